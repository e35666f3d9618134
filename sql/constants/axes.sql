-- axes: what is measured of a response, and how its deltas are scaled.
--
-- grain    axis
-- reads    nothing
-- source   method, section 4; r_fixed of the six main axes and of the two
--          generated ones is the study's. Of the further ones: the width of
--          the scale (cos_last, chrf, refusal, ...), ln 2 for jsd (its upper
--          bound in nats), and what the study's 250 and 100 new tokens come to
--          a token (prob_per_token 2.5) and a response (100 tokens).
--          r_reference is the width of the axis's own scale; where that
--          depends on the model or the prompt, see reference_scales; where
--          there is none (counts of tokens) the axis has no reference scale.
--          bound is 1 where deltas / r_fixed lie in -1..1: cosines (deltas in
--          -2..0), measures on 0..1 (BERTScore's F1 as far as it is not
--          negative) and jsd; 1 / 250 for prob_generated, whose deltas lie in
--          -1..1.

select
    position, axis, aspect, is_main, is_resampled, r_fixed, r_reference, bound,
    anchor, not_for, needs, doc
from (
    values
    (1, 'cos', 'activation geometry', true, true,
        2.0, 2.0, 1.0, 1.0, null, 'hidden states',
        'mean over layers of the cosine with the baseline''s hidden state'),
    (2, 'bleu', 'generation consistency', true, true,
        1.0, 1.0, 1.0, null, null, 'text',
        'corpus BLEU of the response against the baseline''s, 0..1'),
    (3, 'bert', 'generation consistency', true, true,
        1.0, 1.0, 1.0, null, null, 'text',
        'BERTScore F1 of the response against the baseline''s'),
    (4, 'prob', 'confidence', true, true,
        250.0, null, null, null, null, 'logits',
        'sum of the log-probabilities of the baseline''s response, in nats'),
    (5, 'ent', 'confidence', true, true,
        10.0, null, null, null, null, 'logits',
        'mean entropy over the baseline''s response, in nats'),
    (6, 'mirror', 'mirroring', true, true,
        1.0, 1.0, 1.0, null, 'form', 'text and a judge',
        '1 if the response takes on the wording''s style, else 0'),
    (7, 'cos_last', 'activation geometry', false, false,
        2.0, 2.0, 1.0, 1.0, null, 'hidden states',
        'the same cosine at the last layer alone'),
    (8, 'bleu_effective_order', 'generation consistency', false, false,
        1.0, 1.0, 1.0, null, null, 'text',
        'BLEU with effective order, for short responses'),
    (9, 'chrf', 'generation consistency', false, false,
        1.0, 1.0, 1.0, null, null, 'text',
        'chrF of the response against the baseline''s, 0..1'),
    (10, 'prob_per_token', 'confidence', false, false,
        2.5, null, null, null, null, 'logits',
        'prob divided by the number of tokens of the baseline''s response'),
    (11, 'prob_geometric', 'confidence', false, false,
        1.0, 1.0, 1.0, null, null, 'logits',
        'geometric mean probability of the baseline''s response, 0..1'),
    (12, 'jsd', 'confidence', false, false,
        0.6931471805599453, 0.6931471805599453, 1.0, null, null, 'logits',
        'mean Jensen-Shannon divergence from the baseline''s distributions'),
    (13, 'prob_generated', 'confidence', false, true,
        250.0, 1.0, 0.004, null, null, 'log-probabilities of generated tokens',
        'mean probability of the generated tokens; where there are no logits'),
    (14, 'ent_generated', 'confidence', false, true,
        10.0, null, null, null, null, 'log-probabilities of generated tokens',
        'sum of -p ln p of the generated tokens; where there are no logits'),
    (15, 'response_length', 'response shape', false, false,
        100.0, null, null, null, null, 'token ids',
        'tokens of the response, without the end token'),
    (16, 'first_divergent_token', 'response shape', false, false,
        100.0, null, null, null, null, 'token ids',
        'leading tokens that the response shares with the baseline''s'),
    (17, 'refusal', 'response shape', false, false,
        1.0, 1.0, 1.0, null, null, 'text',
        '1 if the response declines to answer, by a rule in English, else 0')
) as t (
    position, axis, aspect, is_main, is_resampled, r_fixed, r_reference, bound,
    anchor, not_for, needs, doc
)
