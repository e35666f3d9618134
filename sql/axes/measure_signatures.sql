-- measure_signatures: how the similarities of this run were computed.
--
-- grain    measure
-- reads    similarities
-- source   method, section 4; a score is worth nothing without its signature
--
-- Each measure has one signature. With two, scores of two encoders (or two
-- versions) stand side by side: a measurement that did not end.

with long as (
    select
        unnest(
            make_array('bleu', 'bleu_effective_order', 'chrf', 'bertscore')
        ) as measure,
        unnest(
            make_array(
                bleu_signature,
                bleu_effective_order_signature,
                chrf_signature,
                bertscore_signature
            )
        ) as signature
    from similarities
)

select measure, signature, count(*) as n
from long
where signature is not null
group by measure, signature
