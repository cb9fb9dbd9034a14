"""The loop that every training shares: steps, learning rates, checkpoints from which a stopped run goes on."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from toolsearch.training.recipe import Recipe

STATE: Final = "state.pt"
EVERY: Final = 50
"""Steps between two checkpoints: what a stop costs at most."""
WARM: Final = 0.06
CLIP: Final = 1.0
DECAY: Final = 0.01

Loss = Callable[[dict[str, Any], random.Random], Any]
"""Weights and a source of chance in, the loss of one batch out."""
Told = Callable[[int, int, float], None]
"""Told steps done, all steps, and a running mean of the loss."""


@dataclass(slots=True)
class Run:
    """One training run: the weights that change, in two groups, and where it is kept.

    Every step draws from a chance of its own, made of seed and step, so a run that went on ends like one that did not
    stop.
    """

    torch: Any
    recipe: Recipe
    body: dict[str, Any]
    head: dict[str, Any]
    folder: Path
    seconds: float = 0.0
    mean: float = 0.0
    _optimizer: Any = field(default=None, init=False)

    def learn(self, loss: Loss, told: Told) -> dict[str, Any]:
        """The weights after all steps."""
        weights = {**self.body, **self.head}
        for one in weights.values():
            one.requires_grad_(True)
        groups = [{"params": list(self.body.values()), "lr": 0.0}, {"params": list(self.head.values()), "lr": 0.0}]
        self._optimizer = self.torch.optim.AdamW([one for one in groups if one["params"]], weight_decay=DECAY)
        done = self._resumed(weights)
        for step in range(done, self.recipe.steps):
            self._step(loss, weights, step)
            if (step + 1) % EVERY == 0 or step + 1 == self.recipe.steps:
                self._keep(weights, step + 1)
            told(step + 1, self.recipe.steps, self.mean)
        return {name: one.detach() for name, one in weights.items()}

    def _step(self, loss: Loss, weights: dict[str, Any], step: int) -> None:
        started = time.process_time()
        for group, rate in zip(self._optimizer.param_groups, (self.recipe.rate, self.recipe.head_rate), strict=False):
            group["lr"] = rate * _share(step, self.recipe.steps)
        self._optimizer.zero_grad()
        value = loss(weights, random.Random(f"{self.recipe.seed}:{step}"))  # noqa: S311 - examples, no secret
        value.backward()
        self.torch.nn.utils.clip_grad_norm_(list(weights.values()), CLIP)
        self._optimizer.step()
        now = float(value.item())
        self.mean = now if not step else 0.98 * self.mean + 0.02 * now
        self.seconds += time.process_time() - started

    def _keep(self, weights: dict[str, Any], step: int) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        state = {
            "weights": weights,
            "optimizer": self._optimizer.state_dict(),
            "step": step,
            "recipe": repr(self.recipe),
        }
        new = self.folder / f"{STATE}.tmp"
        self.torch.save({**state, "seconds": self.seconds, "mean": self.mean}, new)
        new.replace(self.folder / STATE)

    def _resumed(self, weights: dict[str, Any]) -> int:
        """Steps that are done already; a state of another recipe counts as none."""
        path = self.folder / STATE
        if not path.is_file():
            return 0
        state = self.torch.load(path, weights_only=True)
        if state["recipe"] != repr(self.recipe):
            return 0
        for name, one in weights.items():
            one.data.copy_(state["weights"][name])
        self._optimizer.load_state_dict(state["optimizer"])
        self.seconds, self.mean = state["seconds"], state["mean"]
        return int(state["step"])


def _share(step: int, steps: int) -> float:
    """Share of the highest rate: up in the first steps, then down to nearly nothing."""
    done = step / max(1, steps)
    return min(1.0, (step + 1) / max(1.0, WARM * steps)) * (1 - 0.98 * done)
