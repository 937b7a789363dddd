"""The tokens that carry structure: chat borders, pictures, and the tags of Qwen's call grammar.

In the micro student's vocabulary a tag and the line break beside it are one token. The text is Qwen's to the letter; an
episode is a third shorter, and on two cores length is time.
"""

IM_END = "<|im_end|>"
"""Ends every message; the stop token of every turn."""
PAD = "<|endoftext|>"
VISION_START = "<|vision_start|>"
VISION_END = "<|vision_end|>"
IMAGE_PAD = "<|image_pad|>"
"""One in the text for each picture; repeated once per image feature in the ids."""
VIDEO_PAD = "<|video_pad|>"

SPECIAL_TOKENS = (
    PAD,
    "<|im_start|>",
    IM_END,
    VISION_START,
    VISION_END,
    IMAGE_PAD,
    VIDEO_PAD,
    "<|im_start|>system\n",
    "<|im_start|>user\n",
    "<|im_start|>assistant\n",
)

TOOL_CALL = "<tool_call>"
"""Where a call begins; it ends with its turn."""
ANSWER = "<answer>"
"""Where the report begins; it ends with its turn."""

GRAMMAR_TOKENS = (
    "<think>",
    "</think>",
    TOOL_CALL,
    "</tool_call>",
    ANSWER,
    "</answer>",
    "<function=",
    "</function>",
    "<parameter=",
    "</parameter>",
    "<tool_response>",
    "</tool_response>",
)
"""Ordinary text when decoded, as in Qwen's tokenizers."""

JOINED_TOKENS = (
    "<think>\n",
    "\n</think>\n\n",
    "<tool_call>\n<function=",
    ">\n<parameter=",
    ">\n",
    "\n</parameter>\n<parameter=",
    "\n</parameter>\n</function>\n</tool_call>",
    "</function>\n</tool_call>",
    "<answer>\n",
    "\n</answer>",
    "<tool_response>\n",
    "\n</tool_response>",
)
"""Tags with their line breaks; in text the longest match wins."""
