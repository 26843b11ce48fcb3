"""A language model of some thousand random weights, in the file format that llama.cpp reads.

It speaks noise in printable ASCII letters: good for what goes over the wire, and for nothing else.
Tokens are bytes, so that no tokenizer has to be trained or fetched.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from gguf import GGUFWriter, TokenType

WIDTH, INNER, HEADS, LAYERS, CONTEXT = 32, 64, 4, 2, 8192
SPECIAL = ("<unk>", "<s>", "</s>")
TEMPLATE = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}assistant:"


def write_model(path: Path) -> None:
    """Write the model; the same weights each time."""
    writer = GGUFWriter(path, "llama")
    _describe(writer)
    _add_tokens(writer)
    _add_weights(writer, np.random.default_rng(7))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _describe(writer: GGUFWriter) -> None:
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(_n_tokens())
    writer.add_file_type(0)


def _add_tokens(writer: GGUFWriter) -> None:
    writer.add_tokenizer_model("llama")
    writer.add_token_list([*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256))])
    writer.add_token_scores([0.0] * _n_tokens())
    special = [TokenType.UNKNOWN, TokenType.CONTROL, TokenType.CONTROL]
    writer.add_token_types([*special, *[TokenType.BYTE] * 256])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(TEMPLATE)


def _add_weights(writer: GGUFWriter, random: np.random.Generator) -> None:
    def noise(*shape: int) -> np.ndarray:
        return random.normal(0, 0.5, shape).astype(np.float32)

    heads = np.zeros((_n_tokens(), WIDTH), np.float32)
    printable = [len(SPECIAL) + byte for byte in range(ord(" "), ord("~") + 1)]
    heads[printable] = noise(len(printable), WIDTH)  # all other tokens stay at a logit of zero
    writer.add_tensor("token_embd.weight", noise(_n_tokens(), WIDTH))
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    writer.add_tensor("output.weight", heads)
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        writer.add_tensor(f"{block}.attn_norm.weight", np.ones(WIDTH, np.float32))
        writer.add_tensor(f"{block}.ffn_norm.weight", np.ones(WIDTH, np.float32))
        for part in ("q", "k", "v", "output"):
            writer.add_tensor(f"{block}.attn_{part}.weight", noise(WIDTH, WIDTH))
        writer.add_tensor(f"{block}.ffn_gate.weight", noise(INNER, WIDTH))
        writer.add_tensor(f"{block}.ffn_up.weight", noise(INNER, WIDTH))
        writer.add_tensor(f"{block}.ffn_down.weight", noise(WIDTH, INNER))


def _n_tokens() -> int:
    return len(SPECIAL) + 256
