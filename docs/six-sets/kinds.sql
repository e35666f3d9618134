-- SGS on the wordings of one kind alone: mean over the data sets.
select subtype, axis, round(avg(sgs), 4) as sgs, sum(n_prompts) as prompts
from sgs_subtype
where normalization = 'fixed' and axis in ('bleu', 'bert', 'prob', 'ent', 'mirror')
group by subtype, axis
order by axis, sgs desc
