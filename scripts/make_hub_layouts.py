"""Makes tests/golden/hub: small files in the layouts that the data sets have on the hub.

The columns and types are those of the hub's Parquet files; the texts are written here. Each is saved by pyarrow as
Parquet, and by pandas as CSV, where lists and structs become Python (or NumPy) text.

    python scripts/make_hub_layouts.py      # pyarrow 26.0.1, pandas
"""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

OUT = Path(__file__).resolve().parent.parent / "tests" / "golden" / "hub"
texts = pa.list_(pa.string())
QUOTED = 'It\'s "both", really'

TABLES = {
    "truthfulqa": (
        pa.schema(
            [
                ("type", pa.string()),
                ("category", pa.string()),
                ("question", pa.string()),
                ("best_answer", pa.string()),
                ("correct_answers", texts),
                ("incorrect_answers", texts),
                ("source", pa.string()),
            ]
        ),
        [
            dict(type="Adversarial", category="Food", question="Is honey ever vegan?", best_answer="No; bees make it",
                 correct_answers=["No", "No; bees make it", QUOTED], incorrect_answers=["Yes"], source="none"),
            dict(type="Adversarial", category="Law", question="May one whistle?", best_answer="Yes",
                 correct_answers=["Yes"], incorrect_answers=["No", "Never"], source="none"),
        ],
    ),
    "natural_questions": (
        pa.schema([("question", pa.string()), ("answer", texts)]),
        [
            dict(question="who keeps the lamp lit", answer=["the keeper", "keeper"]),
            dict(question="how tall is the tower", answer=["30 m"]),
        ],
    ),
    "natural_questions_full": (
        pa.schema(
            [
                ("id", pa.string()),
                ("document", pa.struct([("html", pa.string()), ("tokens", pa.struct([("token", texts)]))])),
                ("question", pa.struct([("text", pa.string()), ("tokens", texts)])),
                (
                    "annotations",
                    pa.struct(
                        [
                            ("id", texts),
                            ("short_answers", pa.list_(pa.struct([("start_token", pa.list_(pa.int64())), ("text", texts)]))),
                            ("yes_no_answer", pa.list_(pa.int64())),
                        ]
                    ),
                ),
            ]
        ),
        [
            dict(id="797", document=dict(html="<p>The keeper</p>", tokens=dict(token=["The", "keeper"])),
                 question=dict(text="who keeps the lamp lit", tokens=["who", "keeps"]),
                 annotations=dict(id=["1", "2", "3"], yes_no_answer=[-1, -1, -1],
                                  short_answers=[dict(start_token=[], text=[]), dict(start_token=[1], text=["the keeper"]),
                                                 dict(start_token=[1, 2], text=["keeper", "the keeper"])])),
            dict(id="798", document=dict(html="", tokens=dict(token=[])),
                 question=dict(text="is the lamp lit", tokens=[]),
                 annotations=dict(id=["1"], yes_no_answer=[1], short_answers=[dict(start_token=[], text=[])])),
        ],
    ),
    "alpaca": (
        pa.schema([("instruction", pa.string()), ("input", pa.string()), ("output", pa.string()), ("text", pa.string())]),
        [
            dict(instruction="Name a colour.", input="", output="Green", text="Below ..."),
            dict(instruction="Add the numbers.", input="1, 2", output="3", text="Below ..."),
        ],
    ),
    "simpleqa_verified": (
        pa.schema(
            [
                ("original_index", pa.int64()),
                ("problem", pa.string()),
                ("answer", pa.string()),
                ("topic", pa.string()),
                ("answer_type", pa.string()),
                ("multi_step", pa.bool_()),
                ("requires_reasoning", pa.bool_()),
                ("urls", pa.string()),
            ]
        ),
        [
            dict(original_index=5, problem="In what year was the lamp lit?", answer="1877", topic="History",
                 answer_type="Date", multi_step=False, requires_reasoning=False, urls="none"),
            dict(original_index=81, problem="Who lit it?", answer="[A. Keeper]", topic="Other",
                 answer_type="Person", multi_step=True, requires_reasoning=False, urls="none"),
        ],
    ),
    "triviaqa": (
        pa.schema(
            [
                ("question", pa.string()),
                ("question_id", pa.string()),
                ("question_source", pa.string()),
                ("search_results", pa.struct([("rank", pa.list_(pa.int32())), ("search_context", texts)])),
                ("answer", pa.struct([("aliases", texts), ("normalized_aliases", texts), ("type", pa.string()), ("value", pa.string())])),
            ]
        ),
        [
            dict(question=question, question_id=id, question_source="none",
                 search_results=dict(rank=[0], search_context=["a long page " * 50]),
                 answer=dict(aliases=aliases, normalized_aliases=["x"], type="FreeForm", value=value))
            for id, question, value, aliases in [
                ("tc_1", "What lights a coast?", "Lighthouse", ["Light house", "Lighthouse", QUOTED]),
                ("tc_2", "Who keeps it?", "The keeper", ["Keeper"]),
                # the hub's rc files hold a question once for each source of evidence
                ("tc_1", "What lights a coast?", "Lighthouse", ["Light house"]),
            ]
        ],
    ),
    "hotpotqa": (
        pa.schema(
            [
                ("id", pa.string()),
                ("question", pa.string()),
                ("answer", pa.string()),
                ("type", pa.string()),
                ("level", pa.string()),
                ("context", pa.struct([("title", texts), ("sentences", pa.list_(texts))])),
            ]
        ),
        [
            dict(id="5a8b", question="Is the lamp older than the tower?", answer="no", type="comparison", level="hard",
                 context=dict(title=["Lamp"], sentences=[["It is new."]])),
            dict(id="5a8c", question="Who built the tower of the lamp?", answer="A. Mason", type="bridge", level="hard",
                 context=dict(title=["Tower"], sentences=[["It is old."]])),
        ],
    ),
}

OUT.mkdir(parents=True, exist_ok=True)
for name, (schema, rows) in TABLES.items():
    table = pa.Table.from_pylist(rows, schema=schema)
    pq.write_table(table, OUT / f"{name}.parquet")
    table.to_pandas().to_csv(OUT / f"{name}.csv", index=False)
