package e2e

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// agents is a rollout in which the root agent calls two tools at once, one of which starts a subagent; a model call of
// no turn fails in between.
const agents = `{"_ng_task_index":0,"_ng_rollout_index":0,"reward":0.5,"response":{"output":[{"type":"message","role":"assistant","content":"done"}]},
"ng_trajectory":{"task_id":"t","rollout_id":"0-0","invocations":[
{"invocation_id":"root","status":"completed","model_calls":[{"model_call_id":"m1"},{"model_call_id":"m2"},{"model_call_id":"m3"}],"conversation":[]},
{"invocation_id":"explore","parent_invocation_id":"root","spawned_by_tool_call_id":"c2","status":"completed","model_calls":[{"model_call_id":"m4"}],"conversation":[]}],
"turns":[
{"invocation_id":"root","task_id":"t","rollout_id":"0-0","turn_no":1,"timestamp":100,"step_count":0,"question":"go","model_calls":[{"model_call_id":"m1"}],
"answer":[{"type":"function_call","call_id":"c1","name":"read","arguments":"{\"path\":\"a\"}"},{"type":"function_call","call_id":"c2","name":"task","arguments":"{\"prompt\":\"look\"}"}]},
{"invocation_id":"explore","task_id":"t","rollout_id":"0-0","turn_no":1,"timestamp":103,"step_count":0,"question":"look","model_calls":[{"model_call_id":"m4"}],"answer":[{"type":"message","role":"assistant","content":"seen"}]},
{"invocation_id":"root","task_id":"t","rollout_id":"0-0","turn_no":2,"timestamp":112,"step_count":2,"question":"go","model_calls":[{"model_call_id":"m3"}],"answer":[{"type":"message","role":"assistant","content":"LONG"}]}],
"tool_calls":[
{"invocation_id":"root","tool_call_id":"c1","tool_name":"read","started_at":102,"completed_at":106,"duration_ms":4000,"status":"completed","output":"one"},
{"invocation_id":"root","tool_call_id":"c2","tool_name":"task","started_at":102,"completed_at":108,"duration_ms":6000,"status":"completed","output":"two"}],
"model_calls":[
{"model_call_id":"m1","started_at":100,"completed_at":102,"duration_ms":2000,"request":{"model":"m"},"response":{"id":"r1"},"response_metadata":{"status_code":200,"finish_reason":"stop","dialect":"responses"},"token_stats":{"prompt_tokens":10,"completion_tokens":5}},
{"model_call_id":"m4","started_at":103,"completed_at":105,"duration_ms":2000,"request":{"model":"m"},"response":{"id":"r4"},"response_metadata":{"status_code":200},"token_stats":{"prompt_tokens":1,"completion_tokens":1}},
{"model_call_id":"m2","started_at":109,"completed_at":110,"duration_ms":1000,"request":{"model":"m"},"response":null,"response_metadata":{"status_code":429,"error_category":"rate_limited"},"token_stats":{}},
{"model_call_id":"m3","started_at":111,"completed_at":113,"duration_ms":2000,"request":{"model":"m"},"response":{"id":"r3"},"response_metadata":{"status_code":200},"token_stats":{"prompt_tokens":20,"completion_tokens":5}}],
"gaps":[]}}`

// rolloutOf opens a file of one row at the page of that row.
func rolloutOf(t *testing.T, row, fragment string) *Page {
	t.Helper()
	folder := files(t, map[string]string{"a.jsonl": row + "\n"})
	p := open(t, "#rollout=a.jsonl:1"+fragment)
	p.ChooseFiles(filepath.Join(folder, "a.jsonl"))
	p.WaitState("ready")
	p.Wait(`document.querySelector("[data-page=rollout] .read > *")`)
	return p
}

// inSight tells whether an element lies within the middle of the page.
func inSight(id string) string {
	return fmt.Sprintf(`(() => { const e = document.getElementById(%q); if (!e) return false; const a = e.getBoundingClientRect(), b = document.querySelector(".read").getBoundingClientRect(); return a.bottom > b.top && a.top < b.bottom; })()`, id)
}

// TestAgents opens a rollout with a subagent and parallel tools: a finding leads to its call, the call to its JSON, a
// span of the timeline to its place in the transcript, and the transcript marks its turn on the timeline.
func TestAgents(t *testing.T) {
	row := strings.ReplaceAll(agents, "\n", "")
	p := rolloutOf(t, strings.Replace(row, "LONG", strings.Repeat(`all is well\n`, 100), 1), "")
	if got := Eval[int](p, `document.querySelectorAll(".agents li").length`); got != 2 {
		t.Errorf("%d agents", got)
	}
	// The failed call stands in front of the turn that came after it.
	p.Wait(`document.querySelector("#turn-3 #at-c3")?.innerText.includes("belongs to no turn")`)
	p.Click(`.facts .found a[data-target^="at-model_call_failed"]`)
	p.Wait(`location.hash.includes("at=f") && document.querySelector(".finding.on b")?.innerText === "model_call_failed" && document.activeElement.matches(".finding")`)
	p.Click(`#at-c3 a`)
	p.Wait(`location.hash.includes("part=calls") && document.querySelector(".raw [data-rows]")?.innerText.includes("rate_limited")`)
	p.Click(`.call-head p a`)
	p.Wait(`!location.hash.includes("part=") && document.querySelector("#turn-3 #at-c3.on")`)

	// Parallel tools lie in lines of their own.
	lines := Eval[[]string](p, `[...document.querySelectorAll("[data-span][data-kind=toolcall] .box")].map((b) => b.getAttribute("y"))`)
	if len(lines) != 2 || lines[0] == lines[1] {
		t.Errorf("tools lie at %q", lines)
	}
	p.Click(`[data-span][data-at=t2]`)
	p.Wait(`location.hash.includes("at=t2") && document.querySelector("#at-t2.on")`)
	p.Wait(inSight("at-t2"))
	p.Wait(`document.querySelector("[data-span][data-at=t2]").hasAttribute("aria-current")`)
	// By keys to the next span, and out of it to the subagent's turn.
	p.Click(`.agents li:nth-child(2) a`)
	p.Wait(`location.hash.includes("at=i2") && document.querySelector("#turn-2[aria-current]")`)
	p.Wait(inSight("turn-2"))
	// The transcript moves, and the timeline follows.
	Eval[bool](p, `(document.querySelector(".read").scrollTop = 1e6, true)`)
	p.Wait(`(() => { const here = document.querySelector("[data-here]"), turn = document.querySelector("[data-span][data-kind=turn][data-turn='3'] .box"); return here.getAttribute("x") === turn.getAttribute("x") && here.getAttribute("width") === turn.getAttribute("width"); })()`)
	// Zoom, whole, closed and open again.
	p.Key("+")
	p.Wait(`document.querySelector("[data-view] [data-zoom]").getAttribute("width") === "200%"`)
	p.Click(`[data-action=zoom-all]`)
	p.Wait(`document.querySelector("[data-view] [data-zoom]").getAttribute("width") === "100%"`)
	p.Key("t")
	p.Wait(`document.querySelector(".timeline.closed")`)
	p.Key("t")
	p.Wait(`document.querySelector(".timeline:not(.closed)")`)
	text := string(p.Download("0-0-transcript.md"))
	for _, want := range []string{"# Rollout 0-0", "model call m2 of no turn", "invocation explore", "## turn 3 of 3"} {
		if !strings.Contains(strings.ReplaceAll(text, `\`, ""), want) {
			t.Errorf("the saved transcript has no %q:\n%.600s", want, text)
		}
	}
}

// longRow is a rollout of so many turns, each with a model call and a tool call. Where the calls have no tokens, each of
// them is a finding.
func longRow(turns int, tokens string) string {
	var refs, list, calls, tools strings.Builder
	for i := range turns {
		comma := ","
		if i == 0 {
			comma = ""
		}
		at := 1000 + i
		fmt.Fprintf(&refs, `%s{"model_call_id":"m%d"}`, comma, i)
		fmt.Fprintf(&list, `%s{"invocation_id":"root","task_id":"t","rollout_id":"0-0","turn_no":%d,"timestamp":%d,"step_count":%d,"question":null,"model_calls":[{"model_call_id":"m%d"}],"answer":[{"type":"message","role":"assistant","content":"step %d"},{"type":"function_call","call_id":"c%d","name":"bash","arguments":"{}"}]}`, comma, i+1, at, i, i, i, i)
		fmt.Fprintf(&calls, `%s{"model_call_id":"m%d","started_at":%d,"completed_at":%d.5,"duration_ms":500,"request":{},"response":{"id":"r%d"},"response_metadata":{"status_code":200},"token_stats":{%s}}`, comma, i, at, at, i, tokens)
		fmt.Fprintf(&tools, `%s{"invocation_id":"root","tool_call_id":"c%d","tool_name":"bash","started_at":%d.5,"completed_at":%d.9,"status":"completed","output":"ok"}`, comma, i, at, at)
	}
	return `{"_ng_task_index":0,"_ng_rollout_index":0,"response":{"output":[]},"ng_trajectory":{"task_id":"t","rollout_id":"0-0","invocations":[{"invocation_id":"root","status":"completed","model_calls":[` + refs.String() +
		`],"conversation":[]}],"turns":[` + list.String() + `],"model_calls":[` + calls.String() + `],"tool_calls":[` + tools.String() + `],"gaps":[]}}`
}

// TestLongRollout opens a rollout of ten thousand turns: only those near the window are in the document, whichever turn
// it stands at, and its thirty thousand spans are drawn on a canvas that selects like the markup.
func TestLongRollout(t *testing.T) {
	p := rolloutOf(t, longRow(10_000, `"prompt_tokens":1,"completion_tokens":1`), "")
	bound := func(where string) {
		t.Helper()
		if nodes := Eval[int](p, `document.querySelectorAll("*").length`); nodes > 2_000 {
			t.Errorf("%s: %d nodes", where, nodes)
		}
	}
	for _, turn := range []int{1, 7000, 10_000} {
		p.SetHash(fmt.Sprintf("rollout=a.jsonl:1&turn=%d", turn))
		id := "turn-" + strconv.Itoa(turn)
		p.Wait(inSight(id))
		p.Wait(`document.querySelector(".rail [aria-current]")?.dataset.target === "` + id + `"`)
		bound(id)
	}
	// Scrolling fills what comes into sight.
	Eval[bool](p, `(document.querySelector(".read").scrollTop = 0, true)`)
	p.Wait(inSight("turn-1"))
	bound("the top again")
	p.Wait(`document.querySelector("[data-spans]").width > 0 && document.querySelector("[data-spans]").dataset.asked`)
	// The middle of the second line is a turn in the middle.
	p.Wait(`(() => { const c = document.querySelector("[data-spans]"); return c.getContext("2d").getImageData(c.width / 2, 30, 1, 1).data[3] > 0; })()`)
	Eval[bool](p, `(() => { const c = document.querySelector("[data-spans]"), b = c.getBoundingClientRect(); c.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX: b.x + b.width / 2, clientY: b.y + 30 })); return true; })()`)
	p.Wait(`/turn=(49|50)\d\d/.test(location.hash)`)
	p.Wait(`(() => { const turn = /turn=(\d+)/.exec(location.hash)[1]; return document.getElementById("turn-" + turn); })()`)
	bound("a span")
}

// TestManyFindings opens a rollout with as many findings as calls: those around the one that is meant are listed.
func TestManyFindings(t *testing.T) {
	p := rolloutOf(t, longRow(1000, ""), "&at=f500")
	p.Wait(`document.querySelector(".finding.on") && document.querySelectorAll(".facts .findings .found li").length === 50`)
	p.Wait(`document.querySelector(".findings .heading").innerText.includes("of 1,000")`)
	p.Key("n")
	p.Wait(`location.hash.includes("at=f501") && document.querySelector(".finding.on")`)
}

// TestJSONSearch looks for a text in a row of ten megabytes and goes from place to place.
func TestJSONSearch(t *testing.T) {
	var items strings.Builder
	for i := range 20_000 {
		word := "hay"
		if i == 150 || i == 12_000 || i == 19_999 {
			word = "Needle"
		}
		fmt.Fprintf(&items, `{"type":"message","role":"assistant","content":"%s %s %d"},`, strings.Repeat("straw ", 80), word, i)
	}
	row := `{"_ng_task_index":0,"_ng_rollout_index":0,"response":{"output":[` + strings.TrimSuffix(items.String(), ",") + `]}}`
	p := rolloutOf(t, row, "&part=raw")
	p.Key("Control+f")
	p.Wait(`document.activeElement.matches("[data-find]")`)
	p.Type("needle")
	found := func(n int, text string) {
		t.Helper()
		p.Wait(fmt.Sprintf(`document.querySelector("[data-found]")?.innerText === "%d of 3" && document.querySelector(".raw mark.now")?.parentElement.innerText.includes(%q)`, n, text))
		p.Wait(`(() => { const a = document.querySelector(".raw mark.now")?.getBoundingClientRect(), b = document.querySelector(".raw").getBoundingClientRect(); return a && a.top >= b.top && a.bottom <= b.bottom; })()`)
	}
	found(1, "150")
	p.Key("Enter")
	found(2, "12000")
	p.Click(`[data-hit=next]`)
	found(3, "19999")
	p.Click(`[data-hit=next]`)
	found(1, "150")
	p.Click(`[data-hit=previous]`)
	found(3, "19999")
	if rows := Eval[int](p, `document.querySelectorAll(".raw [data-index]").length`); rows > 400 {
		t.Errorf("%d lines are in the document", rows)
	}
}

// TestTokens chooses tokens of the sample run by pointer and keys.
func TestTokens(t *testing.T) {
	row := `{"_ng_task_index":0,"_ng_rollout_index":0,"response":{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ab"}],"prompt_token_ids":[1,2,3],"generation_token_ids":[10,11,12,13],"generation_log_probs":[-0.1,-5.5,-2.5,"x"],"loss_mask":[0,0,0,1,1,1,0]}]}}`
	p := rolloutOf(t, row, "&part=tokens")
	p.Wait(`document.querySelectorAll("[data-token-strip] .tok").length === 7`)
	for _, want := range []string{"1 of 4 log probabilities are no numbers", "3 prompt + 4 completion tokens", "loss_mask: 3 of 7 tokens count"} {
		if text := p.Text(".tokens"); !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	p.Click("least likely")
	p.Wait(`location.hash.includes("token=5") && document.querySelector(".tok[aria-selected]")?.textContent === "11"`)
	Eval[bool](p, `(document.querySelector("[data-token-strip]").focus(), true)`)
	p.Key("Right")
	p.Wait(`document.querySelector(".tok[aria-selected]")?.textContent === "12"`)
	p.Wait(`document.querySelector(".facts").innerText.includes("−2.5000")`)
}

// TestHostileRollouts opens rows whose content wants to be more than content.
func TestHostileRollouts(t *testing.T) {
	for _, name := range []string{"11-markup-is-text", "44-tool-calls", "47-remote-and-broken-images", "43-odd-outputs"} {
		t.Run(name, func(t *testing.T) {
			p := open(t, "#rollout=rollouts.jsonl:1")
			p.ChooseFiles(filepath.Join(top, "testdata/cases", name, "rollouts.jsonl"))
			p.WaitState("ready")
			for _, part := range []string{"", "calls", "tokens", "raw"} {
				p.SetHash("rollout=rollouts.jsonl:1&part=" + part)
				p.Wait(`document.querySelector("[data-page=rollout] .read > *")`)
				if n := Eval[int](p, `document.querySelectorAll("#region-main script, #region-main iframe, #region-main object, #region-main img:not([src^='data:image/'])").length`); n != 0 {
					t.Errorf("%s: %d elements that content made", part, n)
				}
			}
			if title := p.Title(); strings.Contains(title, "owned") {
				t.Error(title)
			}
			if list := p.Requests(); len(list) > 0 {
				t.Errorf("requests: %q", list)
			}
		})
	}
}
