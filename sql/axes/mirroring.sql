-- mirroring: axis mirror.
--
-- grain    model, dataset, prompt_id, variant_id, repeat, axis
-- reads    baselines, judgements, variants
-- formula  1 if the rule judge says that the response takes on the wording's
--          style, else 0; 0 for the baseline, which has no style to take on
-- source   method, section 4
--
-- One judge a response: of several rule judges that say something, the one
-- whose name sorts first. Judges are compared in judge_agreement.
-- A baseline has a value at repeat 0 only, which is what it is by definition;
-- its repeats were judged against nothing and have none.

with judged as (
    select
        j.model,
        j.dataset,
        j.prompt_id,
        j.variant_id,
        j.repeat,
        v.baseline_id,
        cast(j.mirrored as double) as value,
        row_number() over (
            partition by
                j.model, j.dataset, j.prompt_id, j.variant_id, j.repeat
            order by j.judge
        ) as place
    from judgements as j
    inner join variants as v
        on
            v.dataset = j.dataset
            and v.prompt_id = j.prompt_id
            and v.variant_id = j.variant_id
    where
        j.method = 'rule'
        and j.judge_repeat = 0
        and j.mirrored is not null
        and not v.is_baseline
)

select
    model, dataset, prompt_id, variant_id, repeat, 'mirror' as axis, value
from judged
where place = 1

union all

select distinct
    j.model,
    j.dataset,
    j.prompt_id,
    b.variant_id,
    0 as repeat,
    'mirror' as axis,
    0.0 as value
from judged as j
inner join baselines as b
    on
        b.dataset = j.dataset
        and b.prompt_id = j.prompt_id
        and b.variant_id = j.baseline_id
