package engine

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/pack"
	"github.com/rollscope/rollscope/core/runfolder"
	"github.com/rollscope/rollscope/web/bundle"
)

func zipped(t *testing.T, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sharing drives an engine as the page and its packing worker do.
type sharing struct {
	t      *testing.T
	desk   Engine
	packer Engine
	files  []runfolder.File
	bodies [][]byte // as they lie there
}

func newSharing(t *testing.T, bodies map[string][]byte, order ...string) *sharing {
	s := &sharing{t: t}
	for _, name := range order {
		s.files = append(s.files, runfolder.File{Path: name, Size: int64(len(bodies[name]))})
		s.bodies = append(s.bodies, bodies[name])
	}
	var answer struct {
		Scan []struct {
			Source, File int
			Size         int64
			Packed       bool
		}
	}
	s.call(&answer, map[string]any{"op": "open", "files": s.files})
	for _, task := range answer.Scan {
		to := task.Size
		if task.Packed {
			to = -1
		}
		head, _ := json.Marshal(map[string]any{"source": task.Source, "from": 0, "to": to, "packed": task.Packed})
		var scanner Engine
		if _, _, err := scanner.Call(OpScan, head); err != nil {
			t.Fatal(err)
		}
		if _, err := scanner.Feed(s.bodies[task.File]); err != nil {
			t.Fatal(err)
		}
		partial, _, err := scanner.Call(OpFinish, nil)
		if err == nil {
			_, _, err = s.desk.Call(OpAdd, partial)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *sharing) call(answer any, request map[string]any) {
	s.t.Helper()
	b, _ := json.Marshal(request)
	out, needs, err := s.desk.Call(OpCall, b)
	if err != nil || needs {
		s.t.Fatalf("%v: %v, needs %v", request["op"], err, needs)
	}
	if err := json.Unmarshal(out, answer); err != nil {
		s.t.Fatal(err)
	}
}

type given struct {
	All, Some, HTML, Name, Command string
	OK                             bool
	Begin                          map[string]any
	Wanted                         map[int][][2]int64
}

func (s *sharing) give(fragment, what, rules, title string) (g given) {
	s.t.Helper()
	s.call(&g, map[string]any{"op": "give", "fragment": fragment, "what": what, "text": rules, "title": title, "take": true})
	return g
}

// step runs a step of the packer.
func (s *sharing) step(request map[string]any, data []byte) ([]byte, error) {
	head, _ := json.Marshal(request)
	out, _, err := s.packer.Call(OpParcel, append(append(head, '\n'), data...))
	return bytes.Clone(out), err
}

func (s *sharing) must(request map[string]any, data []byte) []byte {
	s.t.Helper()
	out, err := s.step(request, data)
	if err != nil {
		s.t.Fatalf("%v: %v", request["op"], err)
	}
	return out
}

// document makes the bundle.
func (s *sharing) document(g given) (document []byte, html string) {
	s.t.Helper()
	request := map[string]any{"op": "begin", "made": "2026-01-02T03:04:05Z"}
	for name, value := range g.Begin {
		request[name] = value
	}
	var plan struct {
		Learns           bool
		Rollouts, Beside []int
	}
	if err := json.Unmarshal(s.must(request, nil), &plan); err != nil {
		s.t.Fatal(err)
	}
	var elements []byte
	n := 0
	blocks := func() {
		for {
			plain := s.must(map[string]any{"op": "block"}, nil)
			if len(plain) == 0 {
				return
			}
			elements = append(elements, s.must(map[string]any{"op": "packed", "n": n}, zipped(s.t, plain))...)
			n++
		}
	}
	through := func(list []int) {
		for _, file := range list {
			s.must(map[string]any{"op": "file", "file": file, "wanted": g.Wanted[file]}, nil)
			for rest := s.bodies[file]; len(rest) > 0; {
				size := min(len(rest), 100)
				if _, err := s.packer.Feed(rest[:size]); err != nil {
					s.t.Fatal(err)
				}
				blocks()
				rest = rest[size:]
			}
			s.must(map[string]any{"op": "end"}, nil)
		}
	}
	if plan.Learns {
		through(plan.Rollouts)
	}
	s.must(map[string]any{"op": "learned"}, nil)
	through(plan.Rollouts)
	through(plan.Beside)
	s.must(map[string]any{"op": "finish"}, nil)
	if n == 0 {
		if _, err := s.step(map[string]any{"op": "index"}, nil); err == nil {
			s.t.Error("an index was made before its block was packed")
		}
	}
	blocks()
	var done struct{ HTML string }
	if err := json.Unmarshal(s.must(map[string]any{"op": "index"}, nil), &done); err != nil {
		s.t.Fatal(err)
	}
	front := s.must(map[string]any{"op": "front", "style": "p{}", "script": "run()", "worker": "work()", "libraries": []string{"lib()"}}, []byte("module"))
	return append(append(front, elements...), s.must(map[string]any{"op": "behind"}, nil)...), done.HTML
}

// opened reads a document as --verify does, and gives the files in it.
func opened(t *testing.T, document []byte) (*pack.Index, map[string]string) {
	t.Helper()
	d, err := bundle.ReadDocument(document)
	if err != nil {
		t.Fatal(err)
	}
	text, err := d.Index()
	if err != nil {
		t.Fatal(err)
	}
	x, err := pack.Parse(text, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	r := pack.NewReader(x, d.Block)
	if errs := r.Verify(); len(errs) > 0 {
		t.Fatal(errs)
	}
	files := map[string]string{}
	for i, f := range x.Files {
		b := make([]byte, f.Size)
		if _, err := r.ReadAt(i, b, 0); err != nil {
			t.Fatal(err)
		}
		files[f.Path] = string(b)
	}
	return x, files
}

const (
	firstRow  = `{"_ng_task_index":1,"_ng_rollout_index":0,"said":"a secret of the first row"}` + "\n"
	secondRow = `{"_ng_task_index":2,"_ng_rollout_index":0,"said":"it repeats: a secret of the first row"}` + "\n"
)

func someFiles(t *testing.T) *sharing {
	return newSharing(t, map[string][]byte{
		"run/rollouts.jsonl":          []byte(firstRow + secondRow),
		"run/more.jsonl.gz":           zipped(t, []byte(firstRow+"not json\n"+secondRow)),
		"run/rollouts_failures.jsonl": []byte("{}\n"),
		"run/key.env":                 []byte("KEY=1"),
	}, "run/rollouts.jsonl", "run/more.jsonl.gz", "run/rollouts_failures.jsonl", "run/key.env")
}

// The page makes a document that holds what was opened, and that verifies itself.
func TestParcel(t *testing.T) {
	s := someFiles(t)
	g := s.give("", "filter", "", "Tuesday")
	if !g.OK || g.Some != "" || g.All != "all 5 rows" || g.Name != "run.html" || !strings.Contains(g.HTML, "it is no file of a run") {
		t.Fatalf("%+v", g)
	}
	document, html := s.document(g)
	x, files := opened(t, document)
	want := map[string]string{"run/rollouts.jsonl": firstRow + secondRow, "run/more.jsonl": firstRow + "not json\n" + secondRow, "run/rollouts_failures.jsonl": "{}\n"}
	for name, text := range want {
		if files[name] != text {
			t.Errorf("%s holds %q", name, files[name])
		}
	}
	if len(files) != len(want) || x.Title != "Tuesday" || x.Codec != pack.Gzip || x.Version != pack.Version || len(x.Sources) != 3 || len(x.Left) != 1 {
		t.Errorf("%+v", x)
	}
	if x.Sources[0].SHA256 != pack.ID([]byte(firstRow+secondRow)) || x.Sources[1].SHA256 != pack.ID(s.bodies[1]) || x.Sources[1].Name != "run/more.jsonl.gz" {
		t.Errorf("sources %+v", x.Sources)
	}
	if !strings.Contains(html, "5 rows of 5 and 3 files in 1 block") || !strings.Contains(html, "left out: run/key.env") {
		t.Errorf("said: %s", html)
	}
	if !bytes.Contains(document, []byte("connect-src &#39;none&#39;")) || !bytes.Contains(document, []byte("<script>run()</script>")) {
		t.Error("this is no single file")
	}
}

func TestParcelFiltered(t *testing.T) {
	s := someFiles(t)
	g := s.give("filter=task=2", "filter", "", "it's")
	if !g.OK || g.Some != "the 2 rows of the filter task=2" || g.Command != `rollscope bundle RUN -o DIR --filter 'task=2' --title 'it'\''s'` {
		t.Fatalf("%+v", g)
	}
	document, _ := s.document(g)
	if x, files := opened(t, document); files["run/rollouts.jsonl"] != secondRow || files["run/more.jsonl"] != secondRow || x.Filter != "task=2" || x.Rows.Kept != 2 || x.Rows.Of != 5 {
		t.Errorf("%q, %+v", files, x)
	}
	// All of them, whatever the filter.
	if g = s.give("filter=task=2", "all", "", ""); g.Begin["filtered"] != false || len(g.Wanted) != 0 {
		t.Errorf("%+v", g.Begin)
	}
}

func TestParcelRedacted(t *testing.T) {
	s := someFiles(t)
	g := s.give("", "all", "length said\ndrop nothing", "of a secret of the first row")
	if !g.OK || g.Name != "bundle.html" || !strings.Contains(g.HTML, "rules are for rollouts alone") {
		t.Fatalf("%+v", g)
	}
	document, html := s.document(g)
	x, files := opened(t, document)
	for name, text := range files {
		if strings.Contains(text, "secret") || !strings.Contains(text, "xxxxxxxx") {
			t.Errorf("%s holds %q", name, text)
		}
	}
	if len(files) != 2 || len(x.Sources) != 0 || strings.Contains(x.Title, "secret") || x.Redaction == nil || x.Rows.Unreadable != 1 || x.Rows.Kept != 4 {
		t.Errorf("%q, %+v", files, x)
	}
	for _, want := range []string{"1 line cannot be read", "drop nothing&#34; decides about nothing", "2 files"} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is not said: %s", want, html)
		}
	}
}

// What cannot be shared is said with the reason, and asked for it gives nothing.
func TestParcelRefused(t *testing.T) {
	s := someFiles(t)
	for _, c := range []struct{ fragment, what, rules, says string }{
		{"", "all", "drop", "a path is missing"},
		{"", "all", "# nothing", "there is no rule"},
		{"filter=task=9", "filter", "", "No row fits"},
		{"filter=task=", "filter", "", "The filter cannot be read"},
	} {
		if g := s.give(c.fragment, c.what, c.rules, ""); g.OK || g.Begin != nil || !strings.Contains(g.HTML, c.says) {
			t.Errorf("%+v: %+v", c, g)
		}
	}
	for _, request := range []map[string]any{{"op": "file"}, {"op": "block"}, {"op": "index"}, {"op": "begin", "rules": "drop"}, {"op": "nothing"}} {
		if _, err := s.step(request, nil); err == nil {
			t.Errorf("%v was done", request)
		}
	}
	if _, err := s.step(map[string]any{"op": "begin", "files": []map[string]any{{"path": "a.jsonl.gz", "size": 4, "rollouts": true, "packed": true}}}, nil); err != nil {
		t.Fatal(err)
	}
	for _, request := range []map[string]any{{"op": "file", "file": -1}, {"op": "file", "file": 1}, {"op": "end"}, {"op": "packed", "n": 0}, {"op": "front"}, {"op": "nothing"}} {
		if _, err := s.step(request, []byte("x")); err == nil {
			t.Errorf("%v was done", request)
		}
	}
	s.must(map[string]any{"op": "file", "file": 0}, nil)
	if _, err := s.packer.Feed(zipped(t, []byte(firstRow))[:20]); err != nil {
		t.Errorf("told at the end: %v", err)
	}
	if _, err := s.step(map[string]any{"op": "end"}, nil); err == nil {
		t.Error("half a packed file was taken")
	}
}

// A file that is another one when it is written than when it was learned makes no bundle.
func TestParcelChanged(t *testing.T) {
	s := someFiles(t)
	s.must(map[string]any{"op": "begin", "files": []map[string]any{{"path": "a.jsonl", "size": len(firstRow), "rollouts": true}}, "rules": "drop said"}, nil)
	through := func(body string) error {
		s.must(map[string]any{"op": "file", "file": 0}, nil)
		if _, err := s.packer.Feed([]byte(body)); err != nil {
			t.Fatal(err)
		}
		_, err := s.step(map[string]any{"op": "end"}, nil)
		return err
	}
	if err := through(firstRow); err != nil {
		t.Fatal(err)
	}
	s.must(map[string]any{"op": "learned"}, nil)
	if err := through(strings.ToUpper(firstRow)); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("another file was packed: %v", err)
	}
}
