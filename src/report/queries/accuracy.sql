select model, dataset, measure, accuracy_baseline, accuracy_variants, n_prompts
from accuracy
order by measure, model, dataset
