select model, family, parameters, layers, dtype, backend, weights_sha256
from models
order by model
