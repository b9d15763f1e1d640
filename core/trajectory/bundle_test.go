package trajectory

import (
	"bytes"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/modelcall"
	"github.com/rollscope/rollscope/core/trajectory/lax"
)

func TestBundle(t *testing.T) {
	const i = `{"kind":"agent_invocation","invocation_id":"%s"}`
	for _, tt := range []struct{ records, class string }{
		{``, ""}, {fmt.Sprintf(i, "a"), ""}, {fmt.Sprintf(i, "a") + "," + fmt.Sprintf(i, "a"), ClassValidation},
		{`{"invocation_id":"a"}`, ClassValidation}, {`{"kind":"x"}`, ClassValidation}, {`5`, ClassValidation}, {`{"kind":null}`, ClassValidation},
		{`{"kind":"agent_invocation","invocation_id":"a","parent_invocation_id":"a"}`, ClassValidation},
		{`{"kind":"agent_invocation","invocation_id":"a","parent_invocation_id":"b"}`, ""},
		{`{"kind":"agent_invocation","invocation_id":"a","parent_invocation_id":"b"},{"kind":"agent_invocation","invocation_id":"b","parent_invocation_id":"a"}`, ClassValidation},
		{`{"kind":"agent_invocation","invocation_id":"a","parent_invocation_id":"b"},{"kind":"agent_invocation","invocation_id":"b","parent_invocation_id":"c"},{"kind":"agent_invocation","invocation_id":"d","parent_invocation_id":"b"}`, ""},
		{`{"kind":"tool_call","invocation_id":"a","tool_call_id":"t"}`, ""}, {`{"kind":"tool_call","invocation_id":"a","tool_call_id":"t","output":1}`, ClassValidation},
		{`{"kind":"tool_call","invocation_id":"a","tool_call_id":"t","started_at":2,"completed_at":1}`, ClassValidation},
		{`{"kind":"tool_call","invocation_id":"a","tool_call_id":"t","started_at":2,"completed_at":"nan"}`, ""},
		{`{"kind":"sandbox","role":"agent"}`, ""}, {`{"kind":"sandbox"}`, ClassValidation}, {`{"kind":"sandbox","role":"x"}`, ClassValidation}, {`{"kind":"sandbox","role":"agent","wall_time_s":-1}`, ClassValidation},
		{`{"kind":"sandbox","role":"verifier","outcome":"oom","exit_code":-9}`, ""}, {`{"kind":"context_compaction","invocation_id":"a","tokens_before":-1}`, ClassValidation},
		{`{"kind":"context_compaction","invocation_id":"a","before_model_call":{}}`, ClassValidation}, {`{"kind":"context_compaction","invocation_id":"a","before_model_call":null,"model_calls":null}`, ClassValidation},
		{`{"kind":"agent_invocation","invocation_id":"a","x":1}`, ClassValidation}, {`{"kind":"agent_invocation","invocation_id":5,"conversation":[{"role":[]}]}`, ClassType},
		{`{"kind":"x","conversation":[{"role":[]}]}`, ClassValidation},
		{`{"kind":"agent_invocation","invocation_id":"a","conversation":[{"x":` + nested(255) + `}]}`, ClassValue},
	} {
		var r Reader
		_, err := r.ReadBundle(scan(t, `{"source":"s","records":[`+tt.records+`]}`))
		class := ""
		if err != nil {
			class = err.(*Invalid).Class
		}
		if class != tt.class {
			t.Errorf("%s: %v, want %q", tt.records, err, tt.class)
		}
	}
	for text, ok := range map[string]bool{
		`{"source":"s"}`: true, `{}`: false, `{"source":5}`: false, `[]`: false, `{"source":"s","x":1}`: false, `{"source":"s","records":null}`: false,
		`{"source":"s","gaps":[{"code":"c"}]}`: true, `{"source":"s","gaps":[{}]}`: false,
	} {
		if _, err := new(Reader).ReadBundle(scan(t, text)); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	const compaction = `{"source":"s","records":[{"kind":"context_compaction","invocation_id":"a","before_model_call":{"model_call_id":"1"},"model_calls":[{"model_call_id":"2"},{"model_call_id":"3"}],"after_model_call":{"model_call_id":"4"}},
		{"kind":"sandbox","role":"agent","sandbox_id":"b","wall_time_s":2},{"kind":"context_compaction","invocation_id":"a","after_model_call":{"model_call_id":"5"}}]}`
	b, err := new(Reader).ReadBundle(scan(t, compaction))
	if err != nil {
		t.Fatal(err)
	}
	c, d := b.Compactions[0], b.Compactions[1]
	if c.Before.ModelCallID.String() != "1" || len(c.Refs) != 2 || c.Refs[1].ModelCallID.String() != "3" || c.After.ModelCallID.String() != "4" || d.Before != nil || len(d.Refs) != 0 || d.After.ModelCallID.String() != "5" {
		t.Errorf("%+v %+v", c, d)
	}
	if b.Records[1] != (Observation{ObservedSandbox, 0}) || b.Sandboxes[0].WallTimeS.Value != 2 || b.Sandboxes[0].Outcome.String() != "unknown" {
		t.Errorf("%+v", b)
	}
}

func callName(id, server, response, session string) CallName {
	text := func(s string) Text {
		if s == "" {
			return Text{}
		}
		if s == "''" {
			s = ""
		}
		return lax.TextOf(s)
	}
	n := CallName{SessionID: text(session)}
	n.ModelCallID, n.ResponseID = text(id), text(response)
	if server != "" {
		n.Model = ModelRef{Type: lax.TextOf(modelcall.ServerType), Name: lax.TextOf(server), Set: true}
	}
	return n
}

// joined joins records with calls and gives references and gaps in a short form.
func joined(t *testing.T, records string, gaps string, calls ...CallName) (refs, found string) {
	t.Helper()
	var r Reader
	b, err := r.ReadBundle(scan(t, `{"source":"s","records":[`+records+`],"gaps":[`+gaps+`]}`))
	if err != nil {
		t.Fatal(err)
	}
	for i := range calls {
		calls[i].Index = i
	}
	b.Join(calls)
	return shortBundle(b)
}

func shortBundle(b *Bundle) (refs, gaps string) {
	var list []string
	for i := range b.Invocations {
		for k := range b.Invocations[i].Refs {
			list = append(list, b.Invocations[i].ID.String()+"="+shortRef(&b.Invocations[i].Refs[k]))
		}
	}
	for i := range b.Compactions {
		c := &b.Compactions[i]
		for k := range c.Refs {
			list = append(list, "~="+shortRef(&c.Refs[k]))
		}
		for _, one := range []*Ref{c.Before, c.After} {
			if one != nil {
				list = append(list, "~~"+shortRef(one))
			}
		}
	}
	var g []string
	for i := range b.Gaps {
		code := strings.TrimPrefix(strings.TrimPrefix(b.Gaps[i].Code.String(), "model_call_reference_"), "model_call_")
		g = append(g, code+" "+b.Gaps[i].InvocationID.String()+" "+b.Gaps[i].Detail.String())
	}
	return strings.Join(list, "; "), strings.Join(g, "; ")
}

func shortRef(r *Ref) string {
	return r.ModelCallID.String() + "/" + r.Model.Name.String() + "/" + r.ResponseID.String()
}

func invocation(id string, refs ...string) string {
	return `{"kind":"agent_invocation","invocation_id":"` + id + `","model_calls":[` + strings.Join(refs, ",") + `]}`
}

func byID(id string) string { return `{"model_call_id":"` + id + `"}` }

func byPair(server, response string) string {
	return `{"model_ref":{"type":"responses_api_models","name":"` + server + `"},"response_id":"` + response + `"}`
}

func TestJoin(t *testing.T) {
	a, b := callName("a", "p", "r1", ""), callName("b", "p", "r2", "")
	for _, tt := range []struct {
		name, records string
		calls         []CallName
		refs, gaps    string
	}{
		{"by id", invocation("i", byID("a")), []CallName{a, b}, "i=a/p/r1", "ownership_unavailable  capture:b:call_index=1"},
		{"by pair", invocation("i", byPair("p", "r1")), []CallName{a, b}, "i=a/p/r1", "ownership_unavailable  capture:b:call_index=1"},
		{"a shared response", invocation("i", byPair("p", "r1")), []CallName{a, callName("c", "p", "r1", "")}, "i=/p/r1",
			"ambiguous i r1; ownership_unavailable  capture:a:call_index=0; ownership_unavailable  capture:c:call_index=1"},
		{"two calls of an id", invocation("i", byID("a")), []CallName{a, callName("a", "p", "r2", "")}, "i=a//",
			"ambiguous i a; ownership_unavailable  capture:a:call_index=0; ownership_unavailable  capture:a:call_index=1"},
		{"told apart", invocation("i", `{"model_call_id":"a","response_id":"r2"}`), []CallName{a, callName("a", "p", "r2", "")}, "i=a/p/r2", "ownership_unavailable  capture:a:call_index=0"},
		{"a stale response id and a session", invocation("i", `{"model_call_id":"a","response_id":"zz"}`), []CallName{callName("a", "p", "r1", "i")}, "i=a//zz; i=a/p/r1", "unmatched i a"},
		{"claimed twice", invocation("i", byID("a")) + "," + invocation("k", byID("a")), []CallName{a}, "i=a/p/r1; k=a//", "conflict k a"},
		{"named twice", invocation("i", byID("a"), byPair("p", "r1")), []CallName{a}, "i=a/p/r1; i=/p/r1", "conflict i a"},
		{"another server", invocation("i", byPair("q", "r1")), []CallName{a}, "i=/q/r1", "unmatched i r1; ownership_unavailable  capture:a:call_index=0"},
		{"no name at all", "", []CallName{callName("", "", "", "")}, "", "ownership_unavailable  capture:unknown:call_index=0"},
		{"session", invocation("i"), []CallName{callName("a", "p", "r1", "i"), callName("", "p", "r2", "i"), callName("b", "p", "r3", "x")}, "i=a/p/r1",
			"ownership_unavailable  capture:r2:call_index=1; ownership_unavailable  capture:b:call_index=2"},
		{"session, known by id", invocation("i", byID("a")), []CallName{callName("a", "p", "r1", "i")}, "i=a/p/r1", ""},
		{"session, known by pair", invocation("i", byPair("p", "r1")), []CallName{callName("a", "p", "r1", "i")}, "i=a/p/r1", ""},
		{"session twice", invocation("i"), []CallName{callName("a", "p", "r1", "i"), callName("a", "p", "r1", "i")}, "i=a/p/r1",
			"ambiguous i a; ownership_unavailable  capture:a:call_index=0; ownership_unavailable  capture:a:call_index=1"},
		{"an empty response id", invocation("i", `{"model_call_id":"a","response_id":""}`), []CallName{callName("a", "", "''", "")}, "i=a//", ""},
		{"compactions", invocation("i", byID("a")) + `,{"kind":"context_compaction","invocation_id":"i","before_model_call":{"model_call_id":"b"},"model_calls":[{"model_call_id":"a"},{"model_call_id":"b"},{"model_call_id":"x"}],"after_model_call":{"model_call_id":"gone"}},` +
			`{"kind":"context_compaction","invocation_id":"other","before_model_call":{"model_call_id":"a"},"model_calls":[{"model_call_id":"a"}]}`, []CallName{a, b},
			"i=a/p/r1; ~=a/p/r1; ~=b//; ~=x//; ~~b/p/r2; ~~gone//; ~=a//; ~~a//",
			"ownership_unavailable i model_calls:b; unmatched i model_calls:x; unmatched i after_model_call:gone; conflict other model_calls:a; conflict other before_model_call:a; ownership_unavailable  capture:b:call_index=1"},
	} {
		refs, gaps := joined(t, tt.records, "", tt.calls...)
		if refs != tt.refs || gaps != tt.gaps {
			t.Errorf("%s:\n%s | %s, want\n%s | %s", tt.name, refs, gaps, tt.refs, tt.gaps)
		}
	}
	_, gaps := joined(t, invocation("i", byID("a")), `{"code":"custom"},{"code":"model_call_reference_unmatched","detail":"old"},{"code":"model_call_ownership_unavailable","detail":"capture:x"},{"code":"model_call_ownership_unavailable","invocation_id":"i","detail":"capture:x"},{"code":"custom"},{"code":"custom","detail":"d"}`, a)
	if gaps != "custom  ; ownership_unavailable i capture:x; custom  d" {
		t.Error(gaps)
	}
}

// randomBundle makes records whose references are right, wrong, or in conflict, and calls for them.
func randomBundle(r *rand.Rand, contend bool) (records []string, calls []CallName) {
	n := r.Intn(8)
	for i := range n {
		id, server, response, session := fmt.Sprintf("c%d", i), "p", fmt.Sprintf("r%d", i), ""
		switch r.Intn(8) {
		case 0:
			id = ""
		case 1:
			server = ""
		case 2:
			response = ""
		case 3:
			if contend {
				session = fmt.Sprintf("i%d", r.Intn(4))
			}
		case 4:
			if contend {
				id = "c0"
			}
		}
		calls = append(calls, callName(id, server, response, session))
	}
	next := 0
	for i := range r.Intn(4) {
		var refs []string
		for range r.Intn(4) {
			k := next
			if next++; contend {
				k = r.Intn(n + 1)
			}
			switch r.Intn(4) {
			case 0:
				refs = append(refs, byPair("p", fmt.Sprintf("r%d", k)))
			case 1:
				if contend {
					refs = append(refs, byID("ghost"))
				}
			default:
				refs = append(refs, byID(fmt.Sprintf("c%d", k)))
			}
		}
		records = append(records, invocation(fmt.Sprintf("i%d", i), refs...))
	}
	records = append(records, `{"kind":"tool_call","invocation_id":"i0","tool_call_id":"t"}`, `{"kind":"sandbox","role":"agent"}`)
	return records, calls
}

// TestJoinAgain joins what is joined already: the same records, and the same set of gaps.
func TestJoinAgain(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	for range 3000 {
		records, calls := randomBundle(r, true)
		var reader Reader
		bundle, err := reader.ReadBundle(scan(t, `{"source":"s","records":[`+strings.Join(records, ",")+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		for i := range calls {
			calls[i].Index = i
		}
		bundle.Join(calls)
		var b Builder
		text := b.AppendBundle(nil, bundle)
		again, err := new(Reader).ReadBundle(scan(t, string(text)))
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		refs, gaps := shortBundle(bundle)
		again.Join(calls)
		refs2, gaps2 := shortBundle(again)
		if setOf(gaps) != setOf(gaps2) || refs != refs2 {
			t.Fatalf("%s\n%s | %s, then\n%s | %s", text, refs, gaps, refs2, gaps2)
		}
	}
}

func sorted(s string) []string {
	list := strings.Split(s, "; ")
	slices.Sort(list)
	return list
}

func setOf(s string) string { return strings.Join(sorted(s), "; ") }

// TestJoinOrder joins records in another order: where nobody contends for a call, nothing changes.
func TestJoinOrder(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	for range 2000 {
		records, calls := randomBundle(r, false)
		refs, gaps := joined(t, strings.Join(records, ","), "", slices.Clone(calls)...)
		r.Shuffle(len(records), func(i, k int) { records[i], records[k] = records[k], records[i] })
		refs2, gaps2 := joined(t, strings.Join(records, ","), "", calls...)
		if setOf(refs) != setOf(refs2) || setOf(gaps) != setOf(gaps2) {
			t.Fatalf("%s | %s, then\n%s | %s", refs, gaps, refs2, gaps2)
		}
	}
}

// FuzzBundle reads and joins bundles of any content.
func FuzzBundle(f *testing.F) {
	names, err := filepath.Glob("../../testdata/project/*/input/raw_results.jsonl")
	if err != nil || len(names) == 0 {
		f.Fatal("no samples", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, row := range bytes.Split(bytes.TrimSpace(text), []byte{'\n'}) {
			if v := scan(f, string(row)).Get("ng_agent_observations"); v.IsObject() {
				f.Add(v.Raw())
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := new(jsonscan.Scanner).Scan(text)
		if err != nil {
			return
		}
		var b Builder
		bundle, err := b.ReadBundle(v)
		if err != nil {
			return
		}
		bundle.Join([]CallName{callName("a", "p", "r", "root"), callName("", "p", "r", "")})
		if _, err := new(jsonscan.Scanner).Scan(b.AppendBundle(nil, bundle)); err != nil {
			t.Error(err)
		}
	})
}
