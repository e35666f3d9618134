"""Chat templates of the tiny models, in wording of their own: each uses what its family's published template uses.

In: nothing. Out: TEMPLATES, from a kind of template to its Jinja text, and OPTIONS, the options each is rendered with.
"""

TEMPLATES = {
    # Loops, filters, a date that may be given, may be today's, or may be missing, trim marks on both sides.
    "llama3": """{{- bos_token }}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set date_string = "1 Jan 2026" %}
    {%- endif %}
{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set guidance = messages[0]['content'] | trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set guidance = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{{- "The date: " + date_string + "\\n\\n" + guidance + "<|eot_id|>" }}
{%- for turn in messages %}
    {%- if 'tool_calls' not in turn %}
        {{- '<|start_header_id|>' + turn['role'] + '<|end_header_id|>\\n\\n' + turn['content'] | trim + '<|eot_id|>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
""",
    # No system role of its own: it is put into the first user turn; roles must alternate, or the template refuses.
    "llama2": """{% if messages[0]['role'] == 'system' %}{% set rest = messages[1:] %}{% set rule = messages[0]['content'] %}\
{% else %}{% set rest = messages %}{% set rule = false %}{% endif %}{% for turn in rest %}\
{% if (turn['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('User and assistant must take turns.') }}{% endif %}\
{% if loop.index0 == 0 and rule != false %}{% set said = '<<RULE>>\\n' + rule + '\\n<</RULE>>\\n\\n' + turn['content'] %}\
{% else %}{% set said = turn['content'] %}{% endif %}\
{% if turn['role'] == 'user' %}{{ bos_token + '[INST] ' + said.strip() + ' [/INST]' }}\
{% elif turn['role'] == 'assistant' %}{{ ' ' + said.strip() + ' ' + eos_token }}{% endif %}{% endfor %}""",
    "mistral": """{%- set ns = namespace(index=0) -%}
{%- set turns = messages | selectattr('role', 'ne', 'system') | list -%}
{%- set rules = messages | selectattr('role', 'equalto', 'system') | map(attribute='content') | join('\\n') -%}
{{- bos_token }}
{%- for turn in turns %}
{%- if turn.role == 'user' %}
{%- if loop.last and rules %}{{ '[INST] ' ~ rules ~ '\\n\\n' ~ turn.content ~ '[/INST]' }}{% else %}{{ '[INST] ' ~ turn.content ~ '[/INST]' }}{% endif %}
{%- elif turn.role == 'assistant' %}{{ ' ' ~ turn.content | trim ~ eos_token }}
{%- else %}{{ raise_exception('Unknown role: ' ~ turn.role) }}
{%- endif %}
{%- set ns.index = ns.index + 1 %}
{%- endfor %}
""",
    # A system turn of its own where the messages have none.
    "qwen2": """{%- if tools %}
    {{- '<|im_start|>system\\nTools: ' + (tools | tojson) + '<|im_end|>\\n' }}
{%- elif messages[0].role != 'system' %}
    {{- '<|im_start|>system\\nYou answer briefly.<|im_end|>\\n' }}
{%- endif %}
{%- for turn in messages %}
    {%- if (turn.role == "user") or (turn.role == "system") or (turn.role == "assistant" and not turn.tool_calls) %}
        {{- '<|im_start|>' + turn.role + '\\n' + turn.content + '<|im_end|>' + '\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
""",
    # Thoughts: cut from earlier answers, and closed at once where thinking is turned off.
    "qwen3": """{%- set ns = namespace(last=messages | length - 1) %}
{%- for turn in messages[::-1] %}
    {%- set at = (messages | length - 1) - loop.index0 %}
    {%- if turn.role == 'user' and turn.content is string and ns.last == messages | length - 1 %}
        {%- set ns.last = at %}
    {%- endif %}
{%- endfor %}
{%- for turn in messages %}
    {%- set content = turn.content if turn.content is string else '' %}
    {%- if turn.role == 'assistant' and '</think>' in content %}
        {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
    {%- endif %}
    {{- '<|im_start|>' + turn.role + '\\n' + content + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}
""",
    # Content that may be a list of parts, by a macro; thoughts open by default.
    "qwen3_5": """{%- macro text_of(content) %}
    {%- if content is string %}
        {{- content }}
    {%- elif content is iterable and content is not mapping %}
        {%- for part in content %}
            {%- if part is mapping and 'text' in part %}{{- part.text }}{%- else %}{{- raise_exception('Unknown part.') }}{%- endif %}
        {%- endfor %}
    {%- elif content is none or content is undefined %}
        {{- '' }}
    {%- endif %}
{%- endmacro %}
{%- if not messages %}{{- raise_exception('No messages.') }}{%- endif %}
{%- for turn in messages %}
    {%- set content = text_of(turn.content) | trim %}
    {%- if turn.role == 'system' and not loop.first %}
        {{- raise_exception('A system turn must come first.') }}
    {%- endif %}
    {{- '<|im_start|>' + turn.role + '\\n' + content + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- else %}
        {{- '<think>\\n' }}
    {%- endif %}
{%- endif %}
""",
    "smollm2": """{% for turn in messages %}{% if loop.first and messages[0]['role'] != 'system' %}\
{{ '<|im_start|>system\\nYou are a small model.<|im_end|>\\n' }}{% endif %}\
{{'<|im_start|>' + turn['role'] + '\\n' + turn['content'] + '<|im_end|>' + '\\n'}}{% endfor %}\
{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}""",
    # A default that is set once, switches read from the system turn, a generation block.
    "smollm3": """{# The mode of thinking comes from the options, or from a switch in the system turn. #}
{%- if enable_thinking is not defined -%}
{%- set enable_thinking = true -%}
{%- endif -%}
{%- set mode = "/think" if enable_thinking else "/no_think" -%}
{%- set rule = "" -%}
{%- if messages[0].role == "system" -%}
  {%- if "/no_think" in messages[0].content -%}{%- set mode = "/no_think" -%}{%- endif -%}
  {%- set rule = messages[0].content.replace("/no_think", "").replace("/think", "").rstrip() -%}
{%- endif -%}
{{- "<|im_start|>system\\n" -}}
{{- "Mode: " ~ mode ~ "\\n\\n" -}}
{%- if rule -%}{{- rule ~ "\\n\\n" -}}{%- endif -%}
{{- "<|im_end|>\\n" -}}
{%- for turn in messages -%}
  {%- set content = turn.content if turn.content is string else "" -%}
  {%- if turn.role == "user" -%}
    {{ "<|im_start|>" + turn.role + "\\n" + content + "<|im_end|>\\n" }}
  {%- elif turn.role == "assistant" -%}
    {% generation %}
    {%- if mode == "/think" -%}
      {{ "<|im_start|>assistant\\n" + content.lstrip("\\n") + "<|im_end|>\\n" }}
    {%- else -%}
      {{ "<|im_start|>assistant\\n<think>\\n\\n</think>\\n" + content.lstrip("\\n") + "<|im_end|>\\n" }}
    {%- endif -%}
    {% endgeneration %}
  {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
  {%- if mode == "/think" -%}{{ "<|im_start|>assistant\\n" }}{%- else -%}{{ "<|im_start|>assistant\\n<think>\\n\\n</think>\\n" }}{%- endif -%}
{%- endif -%}
""",
    # Refuses a system turn.
    "gemma": """{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('There is no system role.') }}{% endif %}\
{% for turn in messages %}{% if (turn['role'] == 'user') != (loop.index0 % 2 == 0) %}\
{{ raise_exception('User and assistant must take turns.') }}{% endif %}\
{% if (turn['role'] == 'assistant') %}{% set who = 'model' %}{% else %}{% set who = turn['role'] %}{% endif %}\
{{ '<start_of_turn>' + who + '\\n' + turn['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}\
{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}""",
    # Puts a system turn before the first user turn's text; content may be a list of parts.
    "gemma3": """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set opening = messages[0]['content'] + '\\n\\n' -%}
    {%- else -%}
        {%- set opening = messages[0]['content'][0]['text'] + '\\n\\n' -%}
    {%- endif -%}
    {%- set turns = messages[1:] -%}
{%- else -%}
    {%- set opening = "" -%}
    {%- set turns = messages -%}
{%- endif -%}
{%- for turn in turns -%}
    {%- set who = "model" if turn['role'] == 'assistant' else turn['role'] -%}
    {{ '<start_of_turn>' + who + '\\n' + (opening if loop.first else "") }}
    {%- if turn['content'] is string -%}
        {{ turn['content'] | trim }}
    {%- elif turn['content'] is iterable -%}
        {%- for part in turn['content'] -%}
            {%- if part['type'] == 'text' -%}{{ part['text'] | trim }}{%- endif -%}
        {%- endfor -%}
    {%- else -%}
        {{ raise_exception("Content of an unknown kind") }}
    {%- endif -%}
    {{ '<end_of_turn>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{ '<start_of_turn>model\\n' }}
{%- endif -%}
""",
    # A macro that cuts thoughts, dict.get, a system turn where thinking is asked for, an empty thought where it is not.
    "gemma4": """{%- macro without_thoughts(text) -%}
    {%- set ns = namespace(out='') -%}
    {%- for piece in text.split('<channel|>') -%}
        {%- if '<|channel>' in piece -%}
            {%- set ns.out = ns.out + piece.split('<|channel>')[0] -%}
        {%- else -%}
            {%- set ns.out = ns.out + piece -%}
        {%- endif -%}
    {%- endfor -%}
    {{- ns.out | trim -}}
{%- endmacro -%}
{{- bos_token -}}
{%- set turns = messages -%}
{%- if (enable_thinking is defined and enable_thinking) or messages[0]['role'] in ['system', 'developer'] -%}
    {{- '<|turn>system\\n' -}}
    {%- if enable_thinking is defined and enable_thinking -%}{{- '<|think|>\\n' -}}{%- endif -%}
    {%- if messages[0]['role'] in ['system', 'developer'] -%}
        {{- messages[0]['content'] | trim -}}
        {%- set turns = messages[1:] -%}
    {%- endif -%}
    {{- '<turn|>\\n' -}}
{%- endif -%}
{%- for turn in turns -%}
    {%- set who = 'model' if turn['role'] == 'assistant' else turn['role'] -%}
    {{- '<|turn>' + who + '\\n' -}}
    {%- if turn.get('content') -%}
        {%- if who == 'model' -%}{{- without_thoughts(turn['content']) -}}{%- else -%}{{- turn['content'] | trim -}}{%- endif -%}
    {%- endif -%}
    {{- '<turn|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<|turn>model\\n' -}}
    {%- if not enable_thinking | default(false) -%}
        {{- '<|channel>thought\\n<channel|>' -}}
    {%- endif -%}
{%- endif -%}
""",
    "phi3": """{% for turn in messages %}{% if turn['role'] == 'system' and turn['content'] %}{{'<|system|>\\n' + turn['content'] + '<|end|>\\n'}}\
{% elif turn['role'] == 'user' %}{{'<|user|>\\n' + turn['content'] + '<|end|>\\n'}}\
{% elif turn['role'] == 'assistant' %}{{'<|assistant|>\\n' + turn['content'] + '<|end|>\\n'}}{% endif %}{% endfor %}\
{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% else %}{{ eos_token }}{% endif %}""",
}

THINKING = [{}, {"enable_thinking": False}, {"enable_thinking": True}]
OPTIONS = {
    "llama3": [{"date_string": "30 Nov 2026"}],
    "qwen3": THINKING, "qwen3_5": THINKING, "smollm3": THINKING, "gemma4": THINKING,
}
