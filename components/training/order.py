"""Which rows a step trains on: a function of seed and step number alone, so that a resumed run needs no state."""

from collections.abc import Sequence

import numpy as np


def batch_of_step(step: int, lengths: Sequence[int], batch_size: int, seed: int) -> list[int]:
    """Row indices of optimizer step `step` (0-based).

    Every epoch visits each row once, in an order of its own. Rows of similar length share a batch, to save padding;
    the batches themselves are shuffled. The last batch of an epoch may be short.
    """
    batches_per_epoch = -(-len(lengths) // batch_size)
    epoch, position = divmod(step, batches_per_epoch)
    generator = np.random.default_rng([seed, epoch])
    shuffled = generator.permutation(len(lengths))
    # Lengths are blurred so that neighbours differ from epoch to epoch.
    blurred = np.asarray(lengths)[shuffled] * generator.uniform(0.9, 1.1, len(lengths))
    by_length = shuffled[np.argsort(blurred, kind="stable")]
    chosen = int(generator.permutation(batches_per_epoch)[position])
    return [int(row) for row in by_length[chosen * batch_size : (chosen + 1) * batch_size]]
