# /// script
# requires-python = ">=3.11"
# dependencies = []
# ///
"""Generate one image with the Gemini API and write it to a file. Standard library only."""

import argparse
import base64
import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path

ENDPOINT = "https://generativelanguage.googleapis.com/v1beta/models/{model}:generateContent"
STYLES = {
    "realistic": "photorealistic, natural light",
    "artistic": "painterly, visible brush strokes",
    "cartoon": "clean line cartoon, flat colours",
}


def fail(code: int, message: str) -> None:
    print(message, file=sys.stderr)
    raise SystemExit(code)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompt", required=True)
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--aspect", default="1:1", choices=["1:1", "3:4", "4:3", "9:16", "16:9"])
    parser.add_argument("--style", choices=sorted(STYLES))
    parser.add_argument("--model", default="gemini-2.5-flash-image")
    return parser.parse_args()


def generate(prompt: str, aspect: str, model: str, key: str) -> bytes:
    body = {
        "contents": [{"parts": [{"text": prompt}]}],
        "generationConfig": {"responseModalities": ["IMAGE"], "imageConfig": {"aspectRatio": aspect}},
    }
    request = urllib.request.Request(
        ENDPOINT.format(model=model),
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json", "x-goog-api-key": key},
    )
    try:
        with urllib.request.urlopen(request, timeout=120) as response:
            answer = json.load(response)
    except urllib.error.HTTPError as error:
        detail = error.read(2000).decode("utf-8", "replace")
        fail(3, f"The service answered {error.code}: {detail}")
    except OSError as error:
        fail(3, f"The service could not be reached: {error}")
    for candidate in answer.get("candidates", []):
        for part in candidate.get("content", {}).get("parts", []):
            if "inlineData" in part:
                return base64.b64decode(part["inlineData"]["data"])
    fail(3, "The service returned no image; it may have refused the prompt.")
    raise AssertionError("unreachable")


def main() -> None:
    options = arguments()
    key = os.environ.get("GEMINI_API_KEY", "")
    if not key:
        fail(2, "GEMINI_API_KEY is not set: add it under skills.entries.image-gen.apiKey in nexus.yaml.")
    if options.output.suffix.lower() != ".png":
        fail(2, "--output must end in .png")
    prompt = options.prompt if not options.style else f"{options.prompt}. Style: {STYLES[options.style]}."
    image = generate(prompt, options.aspect, options.model, key)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_bytes(image)
    print(json.dumps({"path": str(options.output.resolve()), "bytes": len(image)}))


main()
