"""Makes tests/golden/templates.jsonl: chat templates and the prompts that the reference library makes with them.

Reference: transformers' apply_chat_template (jinja2 with its own settings, filters and functions). The templates are
written for this test: each of the first kind has one feature of the language that published templates use; those of the
second kind have the shapes of whole templates. The clock stands still at noon of 26 July 2024.
Made with transformers 5.24 and jinja2 3.1.6.

    python scripts/golden_templates.py > tests/golden/templates.jsonl
"""

import datetime
import json

from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast
from transformers.utils import chat_template_utils

NAMES = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
CASES = [
    ("Hello there", None),
    ("  spaced\tout \n", "Be brief."),
    ("<b>&\"quoted\" it's é 😀 \\n {{ x }}</b>", None),
    ("two\n\nlines, a </think> b </think>\n\nc", ""),
    ("\x1cedge\x1f\u00a0\u3000", " \x85sys\u2028 "),
]

# One feature each.
FEATURES = {
    "trim_blocks": "a\n{% if true %}\nb\n{% endif %}\nc\n{# note #}\nd\n{{ 1 }}\ne\n",
    "lstrip_blocks": "a\n   {% if true %}\nb\n\t{% endif %}\nc\n  {# note #}\n  {{ 2 }}\n x {% if true %} y{% endif %}\n",
    "minus": "a \n\n {%- if true -%} \n b \n {%- endif %} c {{- ' d ' -}} e {#- note -#} f",
    "plus": "a\n   {%+ if true %}\nb\n   {%+ endif +%}\nc",
    "minus_and_trim": "{%- if true -%}\n\n  x\n{%- else -%}\n  y\n{%- endif -%}\n\nz\n\n",
    "line_ends": "a\r\n{% if true %}\r\nb\r\n{% endif %}\r\nc\rd",
    "raw": "{% raw %}{{ not }} {% run %}{% endraw %}|{{ '{{' }}",
    "comment_with_tags": "a{# {% generation %} {{ x }} #}b",
    "messages": "{% for m in messages %}[{{ m.role }}|{{ m['content'] }}]{% endfor %}",
    "loop": "{% for m in messages %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.first }}{{ loop.last }}{{ loop.length }};{% endfor %}",
    "loop_neighbours": "{% for x in 'abc' %}{{ loop.previtem if not loop.first else '-' }}{{ x }}{{ loop.nextitem if loop.nextitem is defined else '-' }} {% endfor %}",
    "loop_filter": "{% for m in messages if m.role != 'system' %}{{ loop.index }}{{ m.content }}{% else %}none{% endfor %}",
    "loop_else": "{% for m in messages if m.role == 'tool' %}{{ m }}{% else %}no tools{% endfor %}",
    "loop_cycle": "{% for i in range(5) %}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "break_continue": "{% for i in range(10) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}",
    "unpacking": "{% for k, v in {'a': 1, 'b': 'x'}.items() %}{{ k }}={{ v }};{% endfor %}{% for a, b in [(1, 2), [3, 4]] %}{{ a + b }} {% endfor %}",
    "items_filter": "{% for k, v in {'z': 1, 'y': none} | items %}{{ k }}={{ v }};{% endfor %}",
    "dictsort": "{% for k, v in {'b': 1, 'A': 2, 'c': 0} | dictsort %}{{ k }}{{ v }}{% endfor %}",
    "keys_values_get": "{% set d = {'a': 1, 'b': 2} %}{{ d.keys() | list }}{{ d.values() | list }}{{ d.get('a') }}{{ d.get('q') }}{{ d.get('q', 7) }}{{ 'a' in d }}{{ d['q'] is defined }}{{ d | length }}",
    "set_scope": "{% set x = 1 %}{% for i in range(3) %}{% set x = i %}{% endfor %}{{ x }}{% if true %}{% set x = 9 %}{% endif %}{{ x }}",
    "set_block": "{% set x %}  block {{ 1 + 1 }}\n{% endset %}[{{ x }}]{% set y | upper | trim %} abc {% endset %}[{{ y }}]",
    "set_two": "{% set a, b = 1, 2 %}{{ a }}{{ b }}",
    "namespace": "{% set ns = namespace(n=0, last='') %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% set ns.last = m.role %}{% endfor %}{{ ns.n }}{{ ns.last }}",
    "macro": "{% macro tag(name, body='none', n=2) %}<{{ name }}>{{ body * n }}</{{ name }}>{% endmacro %}{{ tag('a') }}{{ tag('b', 'x') }}{{ tag('c', n=1, body='y') }}",
    "macro_recursive": "{% macro show(x, depth=0) %}{% if x is mapping %}{% for k, v in x.items() %}{{ '-' * depth }}{{ k }}:{{ show(v, depth + 1) }}{% endfor %}{% elif x is string %}{{ x }};{% elif x is iterable %}{% for y in x %}{{ show(y, depth + 1) }}{% endfor %}{% else %}{{ x }};{% endif %}{% endmacro %}{{ show({'a': {'b': [1, 'two', none]}, 'c': true}) }}",
    "macro_whitespace": "{%- macro line(text) -%}\n  {{- '* ' + text -}}\n{%- endmacro -%}\n{{ line('a') }}\n{{ line('b') }}\n",
    "call_block": "{% macro box(t) %}[{{ t }}:{{ caller() }}]{% endmacro %}{% call box('x') %}inside{% endcall %}",
    "with": "{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{{ a is defined }}",
    "filter_block": "{% filter upper %}abc {{ messages[0].role }}{% endfilter %}",
    "generation": "a\n{% generation %}\nb {{ messages[-1].content }}\n{% endgeneration %}\nc {%- generation -%} d {%- endgeneration -%} e",
    "generation_scope": "{% set x = 1 %}{% for m in messages %}{% generation %}{% set x = 2 %}{{ m.role }}{{ loop.index }}{{ x }}{% endgeneration %}{{ x }}{% endfor %}",
    "generation_in_if": "{% for m in messages %}\n{%- if m.role == 'user' %}\n{% generation %}\n{{ m.content }}\n{% endgeneration %}\n{%- endif %}\n{% endfor %}end",
    "slices": "{% set l = [1, 2, 3, 4, 5] %}{{ l[1:] }}{{ l[:-1] }}{{ l[::-1] }}{{ l[1:4:2] }}{{ l[-2:] }}{{ l[10:] }}{{ 'abcdef'[1:3] }}{{ 'abc'[::-1] }}{{ 'abc'[-1] }}{{ 'abc'[5:] }}",
    "messages_sliced": "{% set rest = messages[1:] %}{{ rest | length }}{% for m in messages[::-1] %}{{ m.role }}{% endfor %}{{ messages[-1].role }}{{ (messages | last).role }}{{ (messages | first)['role'] }}",
    "tests": "{{ 'a' is string }}{{ 1 is string }}{{ {} is mapping }}{{ [] is mapping }}{{ [] is iterable }}{{ 'a' is iterable }}{{ {} is iterable }}{{ 1 is iterable }}{{ [] is sequence }}{{ 'a' is sequence }}{{ {} is sequence }}{{ 1 is number }}{{ 1.5 is number }}{{ true is number }}{{ true is boolean }}{{ 1 is boolean }}{{ 1 is integer }}{{ 1.0 is float }}{{ none is none }}{{ x is none }}",
    "defined": "{{ x is defined }}{{ x is undefined }}{{ messages is defined }}{{ messages[0].name is defined }}{{ messages[0]['name'] is not defined }}{{ tools is none }}{{ tools is defined }}{{ documents is not none }}{{ x }}|{{ x | default('d') }}{{ '' | default('e', true) }}{{ none | default('f') }}",
    "true_false": "{{ true is true }}{{ 1 is true }}{{ false is false }}{{ none is false }}{{ 2 is odd }}{{ 2 is even }}{{ 6 is divisibleby 3 }}{{ 'a' is eq 'a' }}{{ 1 is sameas 1 }}{{ 3 is in [1, 3] }}{{ 'AB' is upper }}{{ 'ab' is lower }}",
    "truth": "{{ 'y' if [] else 'n' }}{{ 'y' if '' else 'n' }}{{ 'y' if {} else 'n' }}{{ 'y' if 0 else 'n' }}{{ 'y' if none else 'n' }}{{ 'y' if x else 'n' }}{{ 'y' if messages else 'n' }}{{ 'y' if '0' else 'n' }}{{ ('y' if false) }}",
    "and_or": "{{ 'a' and 'b' }}{{ '' or 'c' }}{{ none or [] }}{{ not '' }}{{ 0 or none }}{{ 1 and 0 }}{{ true and not x }}",
    "numbers": "{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 4 / 2 }} {{ 2 ** 3 }} {{ 1.0 }} {{ 1e3 }} {{ 0.1 + 0.2 }} {{ 10 - 3 * 2 }} {{ -3 | abs }} {{ 1 + 1.0 }} {{ 7.0 // 2 }} {{ 2 ** -1 }}",
    "compare": "{{ 1 < 2 }}{{ 'a' < 'b' }}{{ 1 == 1.0 }}{{ '1' == 1 }}{{ [1] == [1] }}{{ 1 < 2 < 3 }}{{ 3 > 2 > 2 }}{{ none == false }}{{ true == 1 }}{{ 'a' != 'b' }}{{ 'ell' in 'hello' }}{{ 2 not in [1, 3] }}",
    "concatenation": "{{ 'a' + 'b' }}{{ 'a' ~ 1 ~ none ~ true ~ 1.5 ~ [1, 'x'] ~ {'k': none} }}{{ [1] + [2] }}{{ 'ab' * 2 }}{{ 'x' 'y' }}",
    "printed": "{{ true }} {{ false }} {{ none }} {{ 1 }} {{ 1.50 }} {{ [1, 'a', none, true, 2.0] }} {{ {'a': [1], 'b': 'it\\'s'} }} {{ (1, 'x') }} {{ (1,) }} {{ () }} {{ 'q\"' }} {{ ['q\"', \"a'b\", 'n\\n\\\\'] }} {{ [] }} {{ {} }}",
    "escapes": "{{ 'a\\nb\\tc\\\\d\\'e\\\"f' }}{{ '\\u00e9\\x41' }}{{ \"it's\" }}",
    "string_methods": "{% set s = messages[-1].content %}[{{ s.strip() }}][{{ s.lstrip() }}][{{ s.rstrip('\\n') }}][{{ s.upper() }}][{{ s.lower() }}][{{ s.replace('e', '3') }}][{{ s.replace('e', '3', 1) }}][{{ s.startswith('  ') }}][{{ s.endswith('there') }}][{{ s.find('e') }}][{{ s.count('e') }}][{{ s.title() }}][{{ s.capitalize() }}]",
    "strip_chars": "{{ '<<a>>'.strip('<>') }}{{ 'xxaxx'.lstrip('x') }}{{ '\\n\\na\\n'.strip('\\n') }}{{ 'ab'.rstrip('ab') }}|{{ ' a '.strip(none) }}|",
    "split": "{% set s = messages[-1].content %}{{ s.split() | join('|') }}{{ s.split('</think>') | join('|') }}{{ s.split('</think>')[-1].lstrip('\\n') }}{{ s.split('e', 1) | join('|') }}{{ s.split(none, 1) | join('|') }}{{ s.rsplit(none, 1) | join('|') }}{{ 'a,b,,c'.split(',') }}{{ ''.split() }}{{ ''.split(',') }}{{ ' a  b '.split(' ') }}",
    "rsplit_partition": "{{ 'a.b.c'.rsplit('.', 1) }}{{ 'a b  c'.rsplit() }}{{ 'a=b=c'.partition('=') }}{{ 'a=b=c'.rpartition('=') }}{{ 'abc'.partition('x') }}",
    "splitlines": "{{ messages[-1].content.splitlines() | join('|') }}{{ messages[-1].content.splitlines(true) | join('|') }}{{ 'a\\nb\\n\\nc\\n'.splitlines() }}{{ 'a\\nb'.splitlines(true) }}{{ ''.splitlines() }}",
    "prefixes": "{{ 'prefix-x'.removeprefix('prefix-') }}{{ 'x-suffix'.removesuffix('-suffix') }}{{ 'abc'.startswith(('x', 'a')) }}{{ 'abc'.endswith(('x', 'c')) }}",
    "is_methods": "{{ '12'.isdigit() }}{{ 'ab'.isalpha() }}{{ 'a1'.isalnum() }}{{ ' '.isspace() }}{{ 'AB'.isupper() }}{{ 'ab'.islower() }}{{ ''.isdigit() }}",
    "more_methods": "{{ 'a-b'.join(['x', 'y']) }}{{ '{} and {}'.format('a', 2) }}{{ '{0:>5}|{n}'.format('a', n=1) }}{{ 'abcabc'.rfind('b') }}",
    "list_methods": "{{ [1, 2, 1].count(1) }}{{ [3, none].count(none) }}",
    "trim_filter": "{% for m in messages %}[{{ m.content | trim }}]{% endfor %}{{ '--a--' | trim('-') }}",
    "filters": "{{ [3, 1, 2] | sort }}{{ ['b', 'A'] | sort }}{{ [1, 2] | reverse | list }}{{ 'abc' | reverse }}{{ [1, 1, 2] | unique | list }}{{ [1, 2, 3] | sum }}{{ [1, 5, 3] | max }}{{ [1, 5] | min }}{{ 'a b' | title }}{{ 'aB' | lower }}{{ 'ab' | capitalize }}{{ ['a', 'b'] | join('-') }}{{ [1, none, true] | join(',') }}{{ 'abc' | length }}{{ '5' | int + 1 }}{{ '1.5' | float }}{{ 3.7 | int }}{{ 3.456 | round(1) }}{{ 5 | string + 'x' }}",
    "filters_of_items": "{{ messages | map(attribute='role') | list }}{{ messages | map(attribute='role') | join('/') }}{{ messages | selectattr('role', 'equalto', 'user') | list | length }}{{ messages | rejectattr('role', 'eq', 'user') | list | length }}{{ [1, 2, 3] | select('odd') | list }}{{ [0, 1, ''] | reject | list }}{{ ['a', 'b'] | map('upper') | list }}{{ [{'a': 1}, {'b': 2}] | selectattr('a', 'defined') | list }}{{ messages | groupby('role') | length }}",
    "batch": "{{ [1, 2, 3] | batch(2) | list }}",
    "indent": "{{ 'a\\nb\\n\\nc' | indent }}|{{ 'a\\nb' | indent(2, true) }}",
    "replace_filter": "{{ 'aaa' | replace('a', 'b') }}{{ 'aaa' | replace('a', 'b', 2) }}{{ '<b>' | safe }}{{ '<' | escape }}{{ '<b>' | e }}",
    "tojson": "{{ messages | tojson }}{{ {'b': 1, 'a': [1.5, 1e20, true, none, 'é<&>\\u2028\\n\\x7f'], 'e': {}, 'l': []} | tojson }}",
    "tojson_indent": "{{ {'b': 1, 'a': [1, {'c': 'd'}], 'e': {}, 'l': []} | tojson(indent=2) }}{{ [1, [2]] | tojson(indent=0) }}",
    "tojson_options": "{{ {'b': 1, 'a': 'é😀'} | tojson(sort_keys=true) }}{{ [1, 'é😀'] | tojson(ensure_ascii=true) }}{{ {'b': [1, 2]} | tojson(separators=(',', ':')) }}{{ 'x' | tojson(ensure_ascii=False) }}",
    "strftime_now": "{{ strftime_now('%d %b %Y') }}|{{ strftime_now('%Y-%m-%d') }}|{{ strftime_now('%A, %B %d, %H:%M') }}",
    "strftime_guarded": "{% if strftime_now is defined %}{% set d = strftime_now('%d %b %Y') %}{% else %}{% set d = '26 Jul 2024' %}{% endif %}{{ d }}",
    "raise": "{% if messages[0].role == 'system' %}{{ raise_exception('no system turn here') }}{% endif %}ok",
    "raise_mod": "{% for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('turns must alternate') }}{% endif %}{{ m.content }}{% endfor %}",
    "undefined_attribute": "{{ x.y }}",
    "undefined_deep": "{{ messages[0].name.first }}",
    "undefined_iterated": "{% for y in x %}{{ y }}{% endfor %}{{ x | length }}{{ x | list }}end",
    "undefined_added": "{{ 'a' + x }}",
    "none_added": "{{ 'a' + none }}",
    "number_added": "{{ 'a' + 1 }}",
    "undefined_called": "{{ nothing() }}",
    "unknown_filter": "{{ 'a' | nothing }}",
    "unknown_method": "{{ 'a'.nothing() }}",
    "index_beyond": "{{ messages[9] }}|{{ messages[9] is defined }}",
    "beyond_attribute": "{{ messages[9].role }}",
    "names": "{{ bos_token }}{{ eos_token }}{{ unk_token }}{{ pad_token }}{{ add_generation_prompt }}",
    "range": "{{ range(3) | list }}{{ range(1, 6, 2) | list }}{% for i in range(messages | length - 1, -1, -1) %}{{ messages[i].role }}{% endfor %}",
    "dict_call": "{{ dict(a=1, b='x') }}{{ dict(a=1) | tojson }}",
    "conditional_chain": "{% if messages | length > 1 %}many{% elif messages[0].role == 'user' %}user{% else %}other{% endif %}",
    "inline_if": "{{ (messages[0].content if messages[0].role == 'system' else 'default') | trim }}",
    "nested_quotes": "{{ \"<|\" + messages[0]['role'] + '|>' }}{{ '\\n' }}",
    "do_nothing_block": "{% block b %}inside{% endblock %}",
    "long_text": "{{ ('ab' * 50) | length }}{{ 'word ' * 3 }}",
    "assign_from_if": "{% set system = messages[0].content if messages[0].role == 'system' else none %}{% if system is not none %}S:{{ system }}{% endif %}{% set loop_messages = messages[1:] if system is not none else messages %}{{ loop_messages | length }}",
    "join_parts": "{% if messages[0].content is string %}{{ messages[0].content }}{% else %}{% for p in messages[0].content %}{{ p.text }}{% endfor %}{% endif %}",
    "string_index": "{{ messages[0].content[0] if messages[0].content else '' }}{{ messages[0]['content'][:3] }}",
    "xmlattr_free": "{{ '%s-%05.2f' | format('a', 3.14159) }}",
    "syntax_if": "one\n{% if %}\nthree",
    "syntax_open": "one\ntwo {{ messages[0]\nthree",
    "syntax_unclosed": "{% for m in messages %}\nx",
    "syntax_tag": "a\nb\n{% nothing %}",
}

# Whole templates, shaped as the families' are.
SHAPES = {
    "turns": "{{ bos_token }}{% for m in messages %}{{ '<|head|>' + m['role'] + '<|tail|>\n\n' + m['content'] | trim + '<|stop|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|head|>assistant<|tail|>\n\n' }}{% endif %}",
    "dated_system": """{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set date_string = "26 Jul 2024" %}
    {%- endif %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}

{#- The system turn is taken out, so that it goes where it should. #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|head|>system<|tail|>\\n\\n" }}
{%- if tools is not none %}
    {{- "Setting: tools\\n" }}
{%- endif %}
{{- "Known until: spring\\n" }}
{{- "Day: " + date_string + "\\n\\n" }}
{{- system_message }}
{{- "<|stop|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|head|>' + message['role'] + '<|tail|>\\n\\n'+ message['content'] | trim + '<|stop|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("one call at a time") }}
        {%- endif %}
        {{- message.tool_calls[0].function.arguments | tojson }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|head|>assistant<|tail|>\\n\\n' }}
{%- endif %}
""",
    "default_system": "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|open|>system\\nYou are of help.<|close|>\\n' }}{% endif %}{{'<|open|>' + message['role'] + '\\n' + message['content'] + '<|close|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|open|>assistant\\n' }}{% endif %}",
    "thinking": """{%- if tools %}
    {{- '<|open|>system\\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\\n\\n' }}
    {%- endif %}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "<|close|>\\n" }}
{%- else %}
    {%- if messages[0].role == 'system' %}
        {{- '<|open|>system\\n' + messages[0].content + '<|close|>\\n' }}
    {%- endif %}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<result>') and message.content.endswith('</result>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|open|>' + message.role + '\\n' + content + '<|close|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning = '' %}
        {%- if '</think>' in content %}
            {%- set reasoning = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index %}
            {{- reasoning.strip('\\n') + content.lstrip('\\n') }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|open|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}""",
    "content_parts": """{%- set image_count = namespace(value=0) %}
{%- macro render_content(content, counts, is_system=false) %}
    {%- if content is string %}
        {{- content }}
    {%- elif content is iterable and content is not mapping %}
        {%- for item in content %}
            {%- if 'image' in item or item.type == 'image' %}
                {%- if is_system %}
                    {{- raise_exception('no pictures in a system turn') }}
                {%- endif %}
                {%- set image_count.value = image_count.value + 1 %}
                {{- '<|picture|>' }}
            {%- elif 'text' in item %}
                {{- item.text }}
            {%- endif %}
        {%- endfor %}
    {%- elif content is none or content is undefined %}
        {{- '' }}
    {%- else %}
        {{- raise_exception('what is this?') }}
    {%- endif %}
{%- endmacro %}
{%- if not messages %}
    {{- raise_exception('no turns') }}
{%- endif %}
{%- for message in messages %}
    {%- set content = render_content(message.content, true)|trim %}
    {%- if message.role == 'system' %}
        {%- if not loop.first %}
            {{- raise_exception('the system turn comes first') }}
        {%- endif %}
        {{- '<|open|>system\\n' + content + '<|close|>' + '\\n' }}
    {%- elif message.role == 'user' %}
        {{- '<|open|>' + message.role + '\\n' + content + '<|close|>' + '\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|open|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is true %}
        {{- '<think>\\n' }}
    {%- else %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}""",
    "no_system": "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('a system turn is not known here') }}{% endif %}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('user and assistant must take turns') }}{% endif %}{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}{{ '<turn_of>' + role + '\n' + message['content'] | trim + '<turn_end>\n' }}{% endfor %}{% if add_generation_prompt %}{{'<turn_of>model\n'}}{% endif %}",
    "system_in_user": """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set first_user_prefix = messages[0]['content'] + '

' -%}
    {%- else -%}
        {%- set first_user_prefix = messages[0]['content'][0]['text'] + '

' -%}
    {%- endif -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception("roles must take turns: user/assistant/user/assistant/...") }}
    {%- endif -%}
    {%- if (message['role'] == 'assistant') -%}
        {%- set role = "model" -%}
    {%- else -%}
        {%- set role = message['role'] -%}
    {%- endif -%}
    {{ '<turn_of>' + role + '
' + (first_user_prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}
            {%- if item['type'] == 'image' -%}
                {{ '<picture>' }}
            {%- elif item['type'] == 'text' -%}
                {{ item['text'] | trim }}
            {%- endif -%}
        {%- endfor -%}
    {%- else -%}
        {{ raise_exception("no such content") }}
    {%- endif -%}
    {{ '<turn_end>
' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<turn_of>model
'}}
{%- endif -%}
""",
    "schema_macros": """{%- macro parameters(properties, required, depth=0) -%}
    {%- set standard = ['description', 'type', 'properties', 'required'] -%}
    {%- set ns = namespace(found_first=false) -%}
    {%- for key, value in properties | dictsort -%}
        {%- if key not in standard -%}
            {%- if ns.found_first %},{% endif -%}
            {%- set ns.found_first = true -%}
            {{ key }}:{
            {%- if value['type'] | upper == 'OBJECT' -%}
                {{ parameters(value['properties'], value['required'] | default([]), depth + 1) }}
            {%- elif value['enum'] -%}
                enum:[{%- for e in value['enum'] -%}{{ e | tojson }}{%- if not loop.last %}, {% endif -%}{%- endfor -%}]
            {%- else -%}
                {{ value['type'] | upper }}
            {%- endif -%}
            }
        {%- endif -%}
    {%- endfor -%}
{%- endmacro -%}
{%- macro strip_thinking(text) -%}
    {%- set ns = namespace(result='') -%}
    {%- for part in text.split('<channel|>') -%}
        {%- if '<|channel>' in part -%}
            {%- set ns.result = ns.result + part.split('<|channel>')[0] -%}
        {%- else -%}
            {%- set ns.result = ns.result + part -%}
        {%- endif -%}
    {%- endfor -%}
    {{- ns.result | trim -}}
{%- endmacro -%}
{%- set ns = namespace(prev_message_type=None) -%}
{%- set loop_messages = messages -%}
{{ bos_token }}
{%- if (enable_thinking is defined and enable_thinking) or tools or messages[0]['role'] in ['system', 'developer'] -%}
    {{- '<|turn_of>system\\n' -}}
    {%- if enable_thinking is defined and enable_thinking -%}
        {{- '<|think|>\\n' -}}
        {%- set ns.prev_message_type = 'think' -%}
    {%- endif -%}
    {%- if messages[0]['role'] in ['system', 'developer'] -%}
        {{- messages[0]['content'] | trim -}}
        {%- set loop_messages = messages[1:] -%}
    {%- endif -%}
    {{- '<turn_end|>\\n' -}}
{%- endif -%}
{{ parameters({'b': {'type': 'object', 'properties': {'x': {'type': 'string', 'enum': ['p', 'q']}}}, 'a': {'type': 'integer'}, 'type': {'type': 'no'}}, ['a']) }}
{%- for message in loop_messages -%}
    {%- set ns.prev_message_type = None -%}
    {%- set role = 'model' if message['role'] == 'assistant' else message['role'] -%}
    {{- '<|turn_of>' + role + '\\n' }}
    {%- if message['content'] is string -%}
        {%- if role == 'model' -%}
            {{- strip_thinking(message['content']) -}}
        {%- else -%}
            {{- message['content'] | trim -}}
        {%- endif -%}
    {%- elif message['content'] is sequence -%}
        {%- for item in message['content'] -%}{{- item['text'] | trim -}}{%- endfor -%}
    {%- endif -%}
    {{- '<turn_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {%- if ns.prev_message_type != 'tool_response' -%}
        {{- '<|turn_of>model\\n' -}}
    {%- endif -%}
    {%- if not enable_thinking | default(false) -%}
        {{- '<|channel>thought\\n<channel|>' -}}
    {%- endif -%}
{%- endif -%}
""",
    "instructions": "{%- if messages[0]['role'] == 'system' %}{%- set system_message = messages[0]['content'] %}{%- set loop_messages = messages[1:] %}{%- else %}{%- set loop_messages = messages %}{%- endif %}{%- set ns = namespace() %}{%- set ns.index = 0 %}{{- bos_token }}{%- for message in loop_messages %}{%- if message['role'] == 'user' %}{%- if (message == loop_messages[-1]) and system_message is defined %}{{- '[ASK] ' + system_message + '\n\n' + message['content'] + '[/ASK]' }}{%- else %}{{- '[ASK] ' + message['content'] + '[/ASK]' }}{%- endif %}{%- set ns.index = ns.index + 1 %}{%- elif message['role'] == 'assistant' %}{{- ' ' + message['content'] | trim + eos_token}}{%- else %}{{- raise_exception('only user and assistant, not ' + message['role'] + '!') }}{%- endif %}{%- endfor %}",
    "wrapped_system": "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}{% for message in loop_messages %}{% if loop.index0 == 0 and system_message != false %}{% set content = '<<S>>\\n' + system_message + '\\n<</S>>\\n\\n' + message['content'] %}{% else %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}{{ bos_token + '[ASK] ' + content.strip() + ' [/ASK]' }}{% elif message['role'] == 'assistant' %}{{ ' '  + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}",
    "role_tags": "{% for message in messages %}{% if message['role'] == 'system' and message['content'] %}{{'<|system|>\n' + message['content'] + '<|stop|>\n'}}{% elif message['role'] == 'user' %}{{'<|user|>\n' + message['content'] + '<|stop|>\n'}}{% elif message['role'] == 'assistant' %}{{'<|assistant|>\n' + message['content'] + '<|stop|>\n'}}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token }}{% endif %}",
    "modes": """{# defaults #}
{%- if enable_thinking is not defined -%}
{%- set enable_thinking = true -%}
{%- endif -%}
{# reasoning mode #}
{%- if enable_thinking -%}
  {%- set reasoning_mode = "/think" -%}
{%- else -%}
  {%- set reasoning_mode = "/no_think" -%}
{%- endif -%}
{{- "<|open|>system\\n" -}}
{%- if messages[0].role == "system" -%}
  {%- set system_message = messages[0].content -%}
  {%- if "/no_think" in system_message -%}
    {%- set reasoning_mode = "/no_think" -%}
  {%- endif -%}
  {%- set custom_instructions = system_message.replace("/no_think", "").replace("/think", "").rstrip() -%}
{%- endif -%}
{%- set today = strftime_now("%d %B %Y") -%}
{{- "## About\\n\\n" -}}
{{- "Until: June\\n" -}}
{{- "Today: " ~ today ~ "\\n" -}}
{{- "Mode: " + reasoning_mode + "\\n\\n" -}}
{%- if custom_instructions -%}
  {{- custom_instructions + "\\n\\n" -}}
{%- endif -%}
{%- if xml_tools or python_tools or tools -%}
  {%- set ns = namespace(text="[") -%}
  {%- for tool in (xml_tools or tools) -%}
    {%- set ns.text = ns.text + (tool | string) -%}
  {%- endfor -%}
  {{- ns.text + "]" -}}
{%- endif -%}
{{- "<|close|>\\n" -}}
{# turns #}
{%- for message in messages -%}
    {%- set content = message.content if message.content is string else "" -%}
    {%- if message.role == "user" -%}
        {{ "<|open|>" + message.role + "\\n"  + content + "<|close|>\\n" }}
    {%- elif message.role == "assistant" -%}
        {% generation %}
        {{ "<|open|>assistant\\n" + content.lstrip("\\n") + "<|close|>\\n" }}
        {% endgeneration %}
    {%- endif -%}
{%- endfor -%}
{# prompt #}
{%- if add_generation_prompt -%}
    {%- if reasoning_mode == "/think" -%}
        {{ "<|open|>assistant\\n" }}
    {%- else -%}
        {{ "<|open|>assistant\\n" + "<think>\\n\\n</think>\\n"  }}
    {%- endif -%}
{%- endif -%}""",
}

OPTIONS = {
    "thinking": [{"enable_thinking": False}, {"enable_thinking": True}],
    "content_parts": [{"enable_thinking": True}],
    "schema_macros": [{"enable_thinking": True}],
    "modes": [
        {"enable_thinking": False},
        {"xml_tools": [{"name": "look", "n": 1, "x": 1.5, "on": True, "none": None, "list": ["a", "it's"]}]},
    ],
    "dated_system": [{"date_string": "1 May 2031"}, {"custom_tools": ["a"]}],
}


class Clock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime(2024, 7, 26, 12, 0, 0)


def main():
    chat_template_utils.datetime = Clock
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), **NAMES)
    for name, template in {**FEATURES, **SHAPES}.items():
        cases = []
        for options in [{}] + OPTIONS.get(name, []):
            for user, system in CASES:
                turns = [{"role": "system", "content": system}] if system is not None else []
                turns.append({"role": "user", "content": user})
                case = {"user": user, "system": system, "options": options}
                try:
                    case["text"] = tokenizer.apply_chat_template(
                        turns, chat_template=template, tokenize=False, add_generation_prompt=True, **options
                    )
                except Exception as e:
                    case["error"] = f"{type(e).__name__}: {e}"
                cases.append(case)
        print(json.dumps({"name": name, "template": template, "names": NAMES, "cases": cases}, ensure_ascii=True))


if __name__ == "__main__":
    main()
