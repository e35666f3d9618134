-- How behaviour moves with the strength of a rewording, on the axes that are resampled.
select
    d.model, d.subtype, d.place, d.level, d.strength, d.axis, d.mean_delta, d.s,
    d.bca_low, d.bca_high, d.t_low, d.t_high, d.n_prompts
from dose_response as d
inner join axes as a on a.axis = d.axis and (a.is_main or a.is_resampled)
order by d.model, a.position, d.subtype, d.place, d.strength, d.level
