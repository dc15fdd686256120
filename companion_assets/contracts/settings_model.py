"""The section `model`: which model answers, and how one of your own is trained."""

from typing import Literal

from pydantic import Field, model_validator

from companion_assets.contracts.settings_fields import HttpAddress, NotNegative, Positive, Section, later


class InferenceSettings(Section):
    """Which model writes replies.

    `backend` `auto` takes llama.cpp, else xllamacpp, else quoted passages. `model_path` null is the embedded
    answerer that was installed; `model` is the name at an Ollama server.
    """

    backend: Literal["auto", "llama.cpp", "xllamacpp", "ollama", "none"] = "auto"
    model_path: str | None = None
    model: str | None = None
    base_url: HttpAddress = "http://localhost:11434"
    context_length: int = Field(4096, ge=512)
    gpu_layers: int = Field(0, ge=-1)
    batch_size: Positive = 512
    threads: NotNegative = 0  # 0 is all cores of this machine

    @model_validator(mode="after")
    def _ollama_has_a_model(self) -> "InferenceSettings":
        if self.backend == "ollama" and not self.model:
            raise ValueError("backend 'ollama' needs `model`, the name of a chat model at the server")
        return self


class FineTuningSettings(Section):
    """The model forge."""

    base_model: str = later("unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit", "model forge")
    output_dir: str | None = later(None, "model forge")
    lora_rank: Positive = later(16, "model forge")
    lora_alpha: Positive = later(32, "model forge")
    learning_rate: float = later(0.0002, "model forge", gt=0)
    batch_size: Positive = later(4, "model forge")
    gradient_accumulation_steps: Positive = later(4, "model forge")
    num_epochs: Positive = later(3, "model forge")
    warmup_steps: NotNegative = later(100, "model forge")
    save_steps: Positive = later(500, "model forge")
    eval_steps: Positive = later(250, "model forge")
    training_data_path: str | None = later(None, "model forge")
    validation_split: float = later(0.1, "model forge", gt=0.0, lt=1.0)


class RetrainSettings(Section):
    """When to think about training again."""

    auto_reminder: bool = later(True, "model forge")
    default_interval_days: Positive = later(90, "model forge")
    reminder_channels: tuple[Literal["chat_stream", "log"], ...] = later(("chat_stream", "log"), "model forge")


class ModelSettings(Section):
    """Inference and training."""

    inference: InferenceSettings = InferenceSettings()
    fine_tuning: FineTuningSettings = FineTuningSettings()
    retrain_schedule: RetrainSettings = RetrainSettings()
