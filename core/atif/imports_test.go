package atif

import (
	"testing"

	"github.com/rollscope/rollscope/core/value"
)

// TestContentHash is the example of the spec.
func TestContentHash(t *testing.T) {
	doc, err := Strict([]byte(`{"schema_version":"ATIF-v1.7","agent":{"name":"a","version":"1","extra":{"x":1}},"steps":[{"step_id":1,"source":"user","message":"hi"},
		{"step_id":2,"source":"agent","message":"yo","metrics":{"prompt_tokens":3,"completion_tokens":2,"extra":{"junk":1,"reasoning_tokens":1}}}],
		"final_metrics":{"total_prompt_tokens":3,"total_completion_tokens":2}}`))
	if err != nil {
		t.Fatal(err)
	}
	im, err := Import(doc, value.Null)
	if err != nil {
		t.Fatal(err)
	}
	if im.Hash != "121a51844def4b687b9706342e2a4382986b9ab6db9cd55bbc52ecfece009492" {
		t.Errorf("content hash %s of %s", im.Hash, hashed(doc))
	}
	if !im.Response.Get("id").Is("atif_6a9ea85ba8bae24007b5") || !im.Response.Get("output").At(0).Get("id").Is("atif_a31cad3bef2f5282608b") {
		t.Errorf("%s", im.Response)
	}
}
