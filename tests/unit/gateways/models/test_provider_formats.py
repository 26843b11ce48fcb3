"""Forms of Responses, generateContent, Converse and Vertex are written as their makers document, and read strictly."""

import gzip
import json
from importlib.resources import files
from typing import Any

import pytest
from botocore.model import ServiceModel
from botocore.validate import ParamValidator

from tests.fakes.provider_answers import converse_answer, gemini_answer, response_answer
from theodolite.domain.application import ModelEndpoint, Price
from theodolite.domain.errors import ContentRefused, EmptyReply, GatewayError, MalformedReply, ServerFault
from theodolite.domain.flow import AskModel, Message, Reply, Speaker
from theodolite.domain.run import FailureSource
from theodolite.gateways.errors import AttemptError
from theodolite.gateways.http_client import HttpResponse
from theodolite.gateways.models.chat_format import Dialect
from theodolite.gateways.models.model_answer import tokens_taken
from theodolite.gateways.models.provider_formats import CONVERSE, GEMINI, RESPONSES, VERTEX_MESSAGES
from theodolite.gateways.secret_redaction import Secret

CHAT = (
    Message(speaker=Speaker.SYSTEM, text="Be kind."),
    Message(speaker=Speaker.USER, text="Hi"),
    Message(speaker=Speaker.ASSISTANT, text="Hello"),
    Message(speaker=Speaker.USER, text="How are you?"),
)

SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}

PRICE = Price(input_usd=2.0, output_usd=10.0)


def call_of(dialect: Dialect, model: str, *, stream: bool = False, schema: Any = None, **params: Any) -> Any:
    """Return the call of a chat."""
    endpoint = ModelEndpoint(name="m", url="https://h.example/base", model=model, params=params)
    request = AskModel(model="m", messages=CHAT, party=FailureSource.JUDGE, answer_schema=schema)
    return dialect.call(endpoint, request, url=endpoint.url, stream={} if stream else None)


def written(dialect: Dialect, **more: Any) -> dict[str, Any]:
    """Return the body of a chat's request."""
    body: dict[str, Any] = json.loads(call_of(dialect, "large-1", **more).body)
    return body


def read(dialect: Dialect, body: Any) -> Reply | AttemptError:
    """Read an answer with the given JSON body."""
    answer = HttpResponse(body=json.dumps(body).encode(), latency_s=0.25)
    return dialect.read(answer, price=PRICE, secret=Secret("sk-1234567"))


ANSWERS = {
    "responses": (RESPONSES, response_answer),
    "gemini": (GEMINI, gemini_answer),
    "converse": (CONVERSE, lambda text, _model, finish="stop": converse_answer(text, finish)),
}


def test_a_request_to_responses_is_not_stored_by_the_provider() -> None:
    assert written(RESPONSES) == {
        "model": "large-1",
        "store": False,
        "instructions": "Be kind.",
        "input": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Hello"},
            {"role": "user", "content": "How are you?"},
        ],
    }


def test_a_schema_joins_the_settings_of_the_study() -> None:
    body = written(RESPONSES, schema=SCHEMA, text={"verbosity": "low"})

    form = {"type": "json_schema", "name": "answer", "schema": SCHEMA, "strict": True}
    assert body["text"] == {"verbosity": "low", "format": form}


def test_a_request_to_gemini_calls_the_assistant_model() -> None:
    body = written(GEMINI, schema=SCHEMA, generationConfig={"temperature": 0})

    assert body == {
        "systemInstruction": {"parts": [{"text": "Be kind."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Hi"}]},
            {"role": "model", "parts": [{"text": "Hello"}]},
            {"role": "user", "parts": [{"text": "How are you?"}]},
        ],
        "generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA, "temperature": 0},
    }


def test_messages_on_vertex_name_the_version_in_the_body_and_the_model_in_the_address() -> None:
    call = call_of(VERTEX_MESSAGES, "claude-sonnet-4-5@20250929", stream=True)
    body = json.loads(call.body)

    assert call.url == "https://h.example/base/models/claude-sonnet-4-5%4020250929:streamRawPredict"
    assert (body["anthropic_version"], body["system"], "model" in body) == ("vertex-2023-10-16", "Be kind.", False)
    assert "anthropic-version" not in call.headers


def test_a_request_to_converse_fits_the_service_model_of_aws() -> None:
    packed = files("botocore") / "data" / "bedrock-runtime" / "2023-09-30" / "service-2.json.gz"
    operation = ServiceModel(json.loads(gzip.decompress(packed.read_bytes()))).operation_model("Converse")
    config = {"maxTokens": 200, "temperature": 0}
    body = written(CONVERSE, schema=SCHEMA, inferenceConfig=config)

    report = ParamValidator().validate({"modelId": "large-1", **body}, operation.input_shape)

    assert report.generate_report() == ""
    assert set(body) == {"system", "messages", "inferenceConfig", "outputConfig"}
    assert json.loads(body["outputConfig"]["textFormat"]["structure"]["jsonSchema"]["schema"]) == SCHEMA


@pytest.mark.parametrize(
    ("dialect", "model", "stream", "path"),
    [
        (RESPONSES, "gpt-5", False, "/responses"),
        (GEMINI, "models/gemini-2.5-pro", False, "/models/gemini-2.5-pro:generateContent"),
        (GEMINI, "gemini-2.5-pro", True, "/models/gemini-2.5-pro:streamGenerateContent?alt=sse"),
        (CONVERSE, "eu.amazon.nova-lite-v1:0", True, "/model/eu.amazon.nova-lite-v1%3A0/converse"),
    ],
    ids=["responses", "gemini", "gemini streamed", "converse"],
)
def test_the_address_names_the_model_where_the_form_says_so(
    dialect: Dialect, model: str, stream: bool, path: str
) -> None:
    assert call_of(dialect, model, stream=stream).url == f"https://h.example/base{path}"


@pytest.mark.parametrize("form", ANSWERS)
def test_a_reply_has_text_without_reasoning_tokens_cost_and_finish_reason(form: str) -> None:
    dialect, answer = ANSWERS[form]

    reply = read(dialect, answer("hello", "large-1-2026"))

    assert isinstance(reply, Reply)
    assert (reply.text, reply.tokens_in, reply.tokens_out, reply.cost_microusd) == ("hello", 120, 30, 540)
    assert reply.finish in {"completed", "STOP", "end_turn"}
    assert reply.answered_as == ("" if form == "converse" else "large-1-2026")


@pytest.mark.parametrize("form", ANSWERS)
@pytest.mark.parametrize(
    ("text", "finish", "kind"),
    [("", "length", EmptyReply), ("part", "content_filter", ContentRefused), ("", "stop", EmptyReply)],
    ids=["cut", "filtered", "empty"],
)
def test_a_reply_without_text_states_the_reason_and_its_cost(
    form: str, text: str, finish: str, kind: type[GatewayError]
) -> None:
    dialect, answer = ANSWERS[form]

    outcome = read(dialect, answer(text, "large-1", finish))

    assert isinstance(outcome, AttemptError)
    assert (outcome.kind, outcome.spent.cost_microusd) == (kind, 540)
    assert ("token limit" in outcome.words) == (finish == "length")


REFUSED = response_answer("", "m") | {
    "output": [{"type": "message", "content": [{"type": "refusal", "refusal": "I cannot help with sk-1234567."}]}]
}


@pytest.mark.parametrize(
    ("dialect", "body", "kind", "words"),
    [
        (RESPONSES, REFUSED, ContentRefused, "the endpoint refused: I cannot help with"),
        (RESPONSES, {"error": {"code": "server_error", "message": "down"}}, ServerFault, "down"),
        (RESPONSES, {"status": "completed"}, MalformedReply, "no `output`"),
        (GEMINI, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, ContentRefused, "PROHIBITED_CONTENT"),
        (GEMINI, {"candidates": []}, MalformedReply, "no `candidates`"),
        (CONVERSE, converse_answer("x", "guardrail_intervened"), ContentRefused, "guardrail_intervened"),
        (CONVERSE, {"Output": {}}, MalformedReply, "no `output`"),
    ],
    ids=["refusal", "error", "no output", "blocked prompt", "no candidate", "guardrail", "unknown operation"],
)
def test_refusals_errors_and_unknown_formats_are_distinguished(
    dialect: Dialect, body: Any, kind: type[GatewayError], words: str
) -> None:
    outcome = read(dialect, body)

    assert isinstance(outcome, AttemptError)
    assert outcome.kind is kind
    assert words in outcome.words
    assert "sk-1234567" not in outcome.words


@pytest.mark.parametrize("form", ANSWERS)
def test_tokens_count_towards_the_limit_per_minute(form: str) -> None:
    _, answer = ANSWERS[form]

    assert tokens_taken(json.dumps(answer("hello", "m")).encode()) == 150
