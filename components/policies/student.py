"""The student: a small `Qwen3_5ForConditionalGeneration` with its own tokenizer, kept as a Hugging Face folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.config.schema import PolicyParams
from components.policies.embedding import draw_embeddings
from components.policies.tokens import IM_END, IMAGE_PAD, PAD, VIDEO_PAD, VISION_END, VISION_START

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast, Qwen3_5Config, Qwen3_5ForConditionalGeneration

PATCH_SIZE = 16
MERGE_SIZE = 2
TEMPORAL_PATCH_SIZE = 2
ATTENTION_BIAS_STD = 0.5


def build_student(params: PolicyParams, tokenizer: "PreTrainedTokenizerFast") -> "Qwen3_5ForConditionalGeneration":
    """An untrained student whose weights follow from `params.seed` alone.

    Every layer is full attention: the gated delta layers of the large model have no quick CPU kernel.
    """
    import torch
    from transformers import Qwen3_5ForConditionalGeneration

    config = _config(params, tokenizer)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(params.seed)
        model = Qwen3_5ForConditionalGeneration(config)
        with torch.no_grad():
            drawn = draw_embeddings(tokenizer, params.hidden_size, config.text_config.initializer_range)
            model.get_input_embeddings().weight.copy_(drawn)
        for layer in model.model.language_model.layers:
            # Attention to a fixed distance needs a part of query and key that no token changes.
            torch.nn.init.normal_(layer.self_attn.q_proj.bias, std=ATTENTION_BIAS_STD)
            torch.nn.init.normal_(layer.self_attn.k_proj.bias, std=ATTENTION_BIAS_STD)
    model.generation_config.eos_token_id = tokenizer.convert_tokens_to_ids(IM_END)
    model.generation_config.pad_token_id = tokenizer.convert_tokens_to_ids(PAD)
    return model


def _config(params: PolicyParams, tokenizer: "PreTrainedTokenizerFast") -> "Qwen3_5Config":
    from transformers import Qwen3_5Config

    ids = tokenizer.convert_tokens_to_ids
    head_dim = params.hidden_size // params.heads
    return Qwen3_5Config(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": params.hidden_size,
            "intermediate_size": params.intermediate_size,
            "num_hidden_layers": params.layers,
            "num_attention_heads": params.heads,
            "num_key_value_heads": params.heads,
            "head_dim": head_dim,
            "layer_types": ["full_attention"] * params.layers,
            "max_position_embeddings": 4 * params.max_length,
            "tie_word_embeddings": True,
            "attention_bias": True,
            "rope_parameters": _rope(head_dim),
            "pad_token_id": ids(PAD),
            "eos_token_id": ids(IM_END),
        },
        vision_config={
            "depth": params.vision_depth,
            "hidden_size": params.vision_hidden_size,
            "intermediate_size": 4 * params.vision_hidden_size,
            "num_heads": params.vision_heads,
            "patch_size": PATCH_SIZE,
            "spatial_merge_size": MERGE_SIZE,
            "temporal_patch_size": TEMPORAL_PATCH_SIZE,
            "out_hidden_size": params.hidden_size,
            "num_position_embeddings": 16 * 16,
        },
        image_token_id=ids(IMAGE_PAD),
        video_token_id=ids(VIDEO_PAD),
        vision_start_token_id=ids(VISION_START),
        vision_end_token_id=ids(VISION_END),
        tie_word_embeddings=True,
    )


def _rope(head_dim: int) -> dict[str, Any]:
    """Half of each head rotates; its frequencies are dealt to time, height and width as evenly as they divide."""
    frequencies = head_dim // 4
    height = width = frequencies // 4
    return {
        "rope_type": "default",
        "rope_theta": 10_000.0,
        "partial_rotary_factor": 0.5,
        "mrope_interleaved": True,
        "mrope_section": [frequencies - height - width, height, width],
    }


def build_image_processor(params: PolicyParams) -> Any:
    """The PIL image processor of Qwen's vision models; needs no torchvision."""
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    return Qwen2VLImageProcessorPil(
        patch_size=PATCH_SIZE,
        merge_size=MERGE_SIZE,
        temporal_patch_size=TEMPORAL_PATCH_SIZE,
        size={"shortest_edge": (PATCH_SIZE * MERGE_SIZE) ** 2, "longest_edge": params.image_pixels},
    )


def save_student(folder: Path, model: Any, tokenizer: Any, image_processor: Any) -> None:
    """Write an ordinary Hugging Face folder: weights, configuration, tokenizer, chat template, image processor."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    image_processor.save_pretrained(folder)


def load_student(folder: Path) -> tuple[Any, Any, Any]:
    """Model, tokenizer and image processor of a folder; raises UsageError if it holds no model."""
    from transformers import Qwen3_5ForConditionalGeneration

    tokenizer, image_processor = load_processor(folder)
    return Qwen3_5ForConditionalGeneration.from_pretrained(folder), tokenizer, image_processor


def load_processor(folder: Path) -> tuple[Any, Any]:
    """Tokenizer and image processor of a folder; raises UsageError if it holds no model."""
    from transformers import AutoTokenizer
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
    from transformers.utils import logging

    from components.errors import UsageError

    if not (folder / "config.json").exists():
        raise UsageError(f"{folder} holds no model; `make demo` or `eviflow run` makes one")
    logging.disable_progress_bar()
    return AutoTokenizer.from_pretrained(folder), Qwen2VLImageProcessorPil.from_pretrained(folder)
