package main_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"html"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	nethtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/rollscope/rollscope/core/synth"
	"github.com/rollscope/rollscope/core/view"
	"github.com/rollscope/rollscope/wasm/engine"
)

var (
	hostileFrom = flag.Int("hostile-from", 0, "first seed of TestHostile")
	hostileRuns = flag.Int("hostile-runs", 30, "how many damaged folders TestHostile opens")
)

// TestHostile opens damaged run folders and follows damaged links through all that the page can show and save. Nothing
// panics, nothing is asked for endlessly, every byte is accounted for, and no text of a file becomes markup.
func TestHostile(t *testing.T) {
	bases := hostileBases(t)
	for seed := *hostileFrom; seed < *hostileFrom+*hostileRuns; seed++ {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			v := &vandal{Rand: rand.New(rand.NewPCG(uint64(seed), 7)), t: t}
			defer func() {
				if p := recover(); p != nil {
					t.Fatalf("%s: panic: %v\n%s", v.doing, p, debug.Stack())
				}
			}()
			v.host = &host{Guest: new(native), t: t}
			v.files = v.damaged(bases)
			v.doing = "open"
			v.host.open(v.files, v.of(700, 50_000, 1<<30))
			v.visit()
		})
	}
}

// hostileBases are the folders that are damaged: of every kind of evidence some.
func hostileBases(t *testing.T) (bases [][]input) {
	t.Helper()
	var sample []input
	for _, f := range synth.Sample() {
		sample = append(sample, input{Path: "run/" + f.Name, Size: len(f.Data), data: f.Data})
	}
	bases = append(bases, sample)
	for _, pattern := range []string{"../testdata/runs/*/run", "../testdata/project/*/input", "../testdata/health/s1*/input", "../testdata/metrics/s*/input", "../testdata/metrics/compare-*", "../testdata/harness/*", "../testdata/resume/input", "../testdata/cases/*", "../testdata/saved"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, dir := range found {
			files := slices.DeleteFunc(folder(t, dir), func(f input) bool { return f.Size > 200_000 })
			if len(files) > 0 {
				bases = append(bases, files)
			}
		}
	}
	return bases
}

// A vandal damages a run folder and looks at what is left of it.
type vandal struct {
	*rand.Rand
	t     *testing.T
	host  *host
	files []input
	added int  // files dropped later
	gone  bool // files vanish while they are looked at
	doing string
}

func (v *vandal) of(list ...int) int            { return list[v.IntN(len(list))] }
func (v *vandal) text(list ...string) string    { return list[v.IntN(len(list))] }
func (v *vandal) chance(percent int) bool       { return v.IntN(100) < percent }
func (v *vandal) cut(s string) (string, string) { at := v.IntN(len(s) + 1); return s[:at], s[at:] }

const evil = `<x-evil onclick="evil()" style="evil">`

// evilValues take the place of values of JSON.
var evilValues = []string{
	`null`, `true`, `false`, `0`, `1`, `"1"`, `-1`, `1.0`, `1e400`, `-1e400`, `1e-400`, `NaN`, `Infinity`, `18446744073709551616`, `9223372036854775807`, `-9223372036854775808`,
	`9007199254740993`, `""`, `" "`, `[]`, `{}`, `[[]]`, `[null]`, `[1,"1",1.0]`, `{"":null}`, `"\ud800"`, `"\u0000"`, `"a\u0000b"`, `"\u202eevil\u2066"`, `"\ufeff"`, `"\r\n"`,
	`"` + strings.ReplaceAll(evil, `"`, `\"`) + `"`, `"\"><x-evil y='"`, `"'/><x-evil>"`, `"javascript:evil()"`, `"</script><x-evil>"`, `"</textarea></style></title><x-evil>"`, `"]]><x-evil>"`,
	`","`, `"="`, `":"`, `"+"`, `"\\"`, `"a,b=c:d+e\\f&g#h%00"`, `"%zz"`, `"."`, `".."`, `"/"`, `"a/b"`, `"__proto__"`, `"2020-01-01T00:00:00Z"`, `"9999999-13-99T99:99:99Z"`,
	`{"a":1,"a":2}`, `{"name":"<x-evil>"}`, `{"_ng_task_index":1}`, strings.Repeat("[", 5000) + strings.Repeat("]", 5000), `"` + strings.Repeat("m", 5000) + `"`, `1` + strings.Repeat("0", 400), `0.1e1`, `-0`, `-0.0`,
}

// evilNames take the place of names of files, or stand in front of them.
var evilNames = []string{"<x-evil>", `"><x-evil a="`, "a\nb", "a,b", "a=b", "a:b", `a\b`, "a+b", "a%00b", "a&b", "a#b", "\u202egnp", "\xff", "..", " ", "run", "a\x00b", strings.Repeat("n", 300), "javascript:evil()", "'"}

var valueOfJSON = regexp.MustCompile(`"(?:[^"\\]|\\.)*"(?:\s*:)?|-?[0-9][0-9.eE+-]*|true|false|null`)

// damaged gives a damaged copy of one base, or of two.
func (v *vandal) damaged(bases [][]input) (files []input) {
	bases = [][]input{bases[v.IntN(len(bases))], bases[v.IntN(len(bases))]}[:v.of(1, 1, 2)]
	if v.chance(15) {
		bases = append(bases, bases[0]) // a run beside its own copy
	}
	for n, base := range bases {
		for _, f := range base {
			f.data = bytes.Clone(f.data)
			if n > 0 {
				f.Path = strconv.Itoa(n) + f.Path
			}
			files = append(files, f)
		}
	}
	for range v.of(0, 1, 1, 2, 3, 5, 8) {
		f := &files[v.IntN(len(files))]
		switch v.IntN(12) {
		case 0:
			f.data = f.data[:v.IntN(len(f.data)+1)]
		case 1:
			f.data = []byte(v.text("", "\n", "{", "null", "[]", "{}", "[]\n[]\n", "\xef\xbb\xbf", "\x1f\x8b", "\x00\x00\x00", "1e999", strings.Repeat("{\"a\":", 3000), strings.Repeat("\n", 3000), evil))
		case 2:
			f.data = bytes.ReplaceAll(f.data, []byte("\n"), []byte(v.text("\r", "\r\n", "\n\n", " ", "\x00\n", "\u2028")))
		case 3:
			f.data = append([]byte(v.text("\xef\xbb\xbf", "\x00", " ", "\n", "\xff\xfe")), f.data...)
		case 4:
			if len(f.data) > 0 {
				f.data[v.IntN(len(f.data))] = byte(v.IntN(256))
			}
		case 5:
			f.data = append(f.data, f.data[v.IntN(len(f.data)+1):]...)
		case 6:
			// The bytes of one file under the name of another.
			f.data = bytes.Clone(files[v.IntN(len(files))].data)
		case 7:
			if dir, name := filepath.Split(f.Path); v.chance(50) {
				f.Path = dir + v.text(evilNames...) + name
			} else {
				f.Path = v.text(evilNames...) + "/" + f.Path
			}
		case 8:
			// One name everywhere.
			from, to := v.text(`"name"`, `"model"`, `"reward"`, `"_ng_task_index"`, `"agent_ref"`, `"status"`), v.text(`"_ng_rollout_index"`, `"x"`, `"reward"`, `"name"`)
			f.data = bytes.ReplaceAll(f.data, []byte(from), []byte(to))
		default:
			f.data = v.respiced(f.data, v.of(1, 3, 10, 100))
		}
	}
	for i := range files {
		files[i].Size = len(files[i].data)
	}
	return files
}

// respiced puts values that nobody expects in the place of some.
func (v *vandal) respiced(data []byte, n int) []byte {
	places := valueOfJSON.FindAllIndex(data, -1)
	places = slices.DeleteFunc(places, func(p []int) bool { return data[p[1]-1] == ':' && v.IntN(20) > 0 })
	if len(places) == 0 {
		return data
	}
	chosen := map[int]string{}
	same := v.text(evilValues...)
	for range n {
		chosen[v.IntN(len(places))] = same
		if v.chance(70) {
			same = v.text(evilValues...)
		}
	}
	var b []byte
	at := 0
	for i, p := range places {
		if value, ok := chosen[i]; ok {
			b = append(append(b, data[at:p[0]]...), value...)
			if at = p[1]; data[at-1] == ':' {
				b = append(b, ':')
			}
		}
	}
	return append(b, data[at:]...)
}

var (
	links  = regexp.MustCompile(`href="#([^"]*)"`)
	tables = regexp.MustCompile(`data-table="([^"]*)"`)
	saves  = regexp.MustCompile(`data-(download|copy)="([^"]*)"`)
)

// visit opens every tab, parts of rollouts, and links that it finds there, whole and damaged.
func (v *vandal) visit() {
	var fragments, found []string
	for _, tab := range view.Tabs {
		fragments = append(fragments, "tab="+tab.ID)
	}
	v.Shuffle(len(fragments), func(i, j int) { fragments[i], fragments[j] = fragments[j], fragments[i] })
	for n := 0; n < len(fragments)+25; n++ {
		var fragment string
		switch {
		case n < len(fragments):
			fragment = fragments[n]
		case len(found) == 0:
			return
		default:
			fragment = found[v.IntN(len(found))]
			if i := slices.IndexFunc(found, func(s string) bool { return strings.Contains(s, "rollout=") }); i >= 0 && v.chance(30) {
				fragment = found[i] + "&part=" + v.text("transcript", "calls", "tokens", "attempts", "timeline", "raw")
			}
			if v.chance(40) {
				fragment = v.bent(fragment)
			}
		}
		if n == len(fragments)+15 && v.chance(30) {
			v.gone = true
		}
		v.doing = fragment
		regions := v.look(fragment)
		var all strings.Builder
		for name, text := range regions {
			v.proper(name, text)
			all.WriteString(text)
		}
		for _, m := range links.FindAllStringSubmatch(all.String(), -1) {
			found = append(found, html.UnescapeString(m[1]))
		}
		v.save(fragment, all.String())
	}
}

// bent damages a link.
func (v *vandal) bent(fragment string) string {
	odd := []string{"set=harness.cell%3D%2500", "set=a", "set=%3D", "set=calls.where%3D(", "set=calls.where%3Dstatus+>+1", "set=scores.at%3DNaN", "set=scores.at%3D1e999", "set=scores.slice%3Dalways", "set=scores.by%3Da.b", "set=compare.base%3Dx", "set=compare.key%3D.", "set=compare.show%3Dall",
		"at=f999", "at=t-1", "at=", "at=c99999999999999999999", "turn=999999999", "turn=9223372036854775807", "token=9223372036854775807", "hit=999999999", "find=e", "sort=-started", "sort=-", "sort=reward", "columns=a:b,c", "columns=task", "rollout=x:1", "rollout=%00", "rollout=:", "rollout=rollouts.jsonl:999999999", "rollout=rollouts.jsonl:0",
		"rollout=rollouts.jsonl:-1", "part=tokens", "part=raw", "part=timeline", "open=a,b,c", "open=%00", "check=tool_gap", "filter=(", "filter=reward+>+0", "filter=row.a.b+%3D+1", "filter=task%3D1", "filter=%00", "by=entropy", "profile=x", "profile=main", "ignore=x", "order=a,b", "drop=rollouts.jsonl", "apart=1", "run=x", "files=a:1:", "%zz", "tab=%00", "part=%3Cx-evil%3E",
		"set=" + url.QueryEscape(v.text("harness.scope", "harness.by", "harness.cell", "harness.check", "scores.x", "scores.y", "scores.at", "scores.by", "scores.slice", "compare.base", "compare.with", "compare.key", "compare.show", "compare.metrics", "compare.left", "compare.right", "calls.where", "coverage.show", "performance.by", "files.line")+"="+v.text("", "0", "-1", "a", evil, "999999999999999999999", ",", "\\", "reward", "name", "a:b:c", "rollouts.jsonl:1"))}
	switch v.IntN(4) {
	case 0:
		a, b := v.cut(fragment)
		_, b = v.cut(b)
		return a + b
	case 1:
		a, b := v.cut(fragment)
		return a + v.text("%00", "%FF", "&", "=", ",", "\\", "%5C", "9", "-", ":") + b
	}
	return fragment + "&" + v.text(odd...)
}

// look draws a page until nothing is missing.
func (v *vandal) look(fragment string) map[string]string {
	for range 200 {
		answer, err := v.host.desk(map[string]any{"op": "render", "fresh": true, "fragment": fragment, "windows": map[string]int{"rollouts": v.of(0, 0, 0, 5, 1<<40, -7)}})
		if err == errNeeds {
			v.supply(answer)
			continue
		}
		if err != nil {
			v.t.Fatalf("%q: %v", fragment, err)
		}
		var d drawn
		if err := json.Unmarshal(answer, &d); err != nil {
			v.t.Fatal(err)
		}
		switch {
		case d.Audit:
			for round := range 10_000 {
				if round > 0 && v.chance(2) {
					v.more() // the audit begins again
					break
				}
				answer, err := v.host.desk(map[string]any{"op": "audit"})
				if err == errNeeds {
					v.supply(answer)
				} else if string(answer) == `{"done":true}` {
					break
				}
			}
		case d.Query != nil:
			v.host.ask(d.Query, v.files, v.of(2000, 1<<30))
		default:
			v.counted(&d)
			return d.Regions
		}
	}
	v.t.Fatalf("%q: something is missing for ever", fragment)
	return nil
}

// more drops a file on the page that is there, at most twice: a copy of another one.
func (v *vandal) more() {
	if v.added++; v.added > 2 {
		return
	}
	f := v.files[v.IntN(len(v.files))]
	f.Path = "more" + strconv.Itoa(v.added) + "/" + f.Path
	answer, err := v.host.desk(map[string]any{"op": "open", "files": []input{f}, "add": true})
	if err != nil {
		v.t.Fatal(err)
	}
	v.files = append(v.files, f)
	var opened struct {
		Scan []struct {
			Source, File, Size int
			Packed             bool
		}
	}
	if err := json.Unmarshal(answer, &opened); err != nil {
		v.t.Fatal(err)
	}
	for _, s := range opened.Scan {
		if !s.Packed {
			v.host.scan(s.Source, v.files[s.File].data, 0, s.Size)
		}
	}
}

// supply gives the bytes that are asked for, unless they are gone.
func (v *vandal) supply(answer []byte) {
	if !v.gone || v.chance(30) {
		v.host.supply(answer, v.files)
		return
	}
	var a struct{ Need []map[string]any }
	if err := json.Unmarshal(answer, &a); err != nil {
		v.t.Fatal(err)
	}
	for _, n := range a.Need {
		n["problem"] = "gone " + evil
		head, _ := json.Marshal(n)
		v.host.must(engine.OpBytes, append(head, '\n'))
	}
}

// counted holds the numbers of a page against each other.
func (v *vandal) counted(d *drawn) {
	if d.Phase != "ready" {
		return
	}
	n := func(name string) int {
		k, err := strconv.Atoi(d.stat("accounting." + name))
		if err != nil {
			v.t.Errorf("%s: accounting.%s: %v", v.doing, name, err)
		}
		return k
	}
	if n("read")+n("blank")+n("unreadable") != n("lines") {
		v.t.Errorf("%s: %d read, %d blank, %d unreadable of %d lines", v.doing, n("read"), n("blank"), n("unreadable"), n("lines"))
	}
}

// save asks for what the page offers to save and to copy, and for more rows of its tables.
func (v *vandal) save(fragment, page string) {
	ask := func(request map[string]any) []byte {
		request["fragment"] = fragment
		for range 50 {
			answer, err := v.host.desk(request)
			if err != errNeeds {
				return answer
			}
			v.supply(answer)
		}
		v.t.Fatalf("%q: %v is missing something for ever", fragment, request)
		return nil
	}
	for _, m := range tables.FindAllStringSubmatch(page, -1) {
		id := html.UnescapeString(m[1])
		from := v.of(0, 1, 100, 1<<40, -3)
		var part struct{ HTML string }
		if answer := ask(map[string]any{"op": "window", "table": id, "from": from, "to": from + v.of(1, 50, 0, -1)}); json.Unmarshal(answer, &part) == nil {
			v.proper("table "+id, "<table><tbody>"+part.HTML+"</tbody></table>")
		}
		ask(map[string]any{"op": "export", "table": id, "form": v.text("tsv", "csv", "json", "jsonl", "md", "x"), "from": v.of(0, 0, 1, 1<<40, -1)})
	}
	for _, m := range saves.FindAllStringSubmatch(page, -1) {
		switch name := html.UnescapeString(m[2]); m[1] {
		case "download":
			ask(map[string]any{"op": "download", "name": name})
		default:
			ask(map[string]any{"op": "copy", "what": name})
		}
	}
	ask(map[string]any{"op": "grid", "from": v.of(0, -1, 5), "to": v.of(0, 10, 1<<40)})
	ask(map[string]any{"op": "cell", "row": v.of(0, -1, 1<<40), "column": v.of(0, -1, 1<<40)})
	ask(map[string]any{"op": "link"})
	ask(map[string]any{"op": "window", "table": "timeline"})
	text := v.text("re", "row.", "reward >", "agent:", "\xff", `"`)
	ask(map[string]any{"op": "offer", "text": text, "cursor": v.of(0, 1, len(text), -1, 99)})
}

// proper tells whether markup is only the page's own.
func (v *vandal) proper(name, text string) {
	nodes, err := nethtml.ParseFragment(strings.NewReader(text), &nethtml.Node{Type: nethtml.ElementNode, Data: "body", DataAtom: atom.Body})
	if err != nil {
		v.t.Errorf("%s: %s: %v", v.doing, name, err)
	}
	root := &nethtml.Node{Type: nethtml.ElementNode, Data: "body"}
	for _, n := range nodes {
		root.AppendChild(n)
	}
	for n := range root.Descendants() {
		if n.Type == nethtml.CommentNode || n.Type == nethtml.ElementNode && (strings.Contains(n.Data, "evil") || slices.Contains([]string{"script", "iframe", "object", "embed", "base", "meta", "link", "style"}, n.Data)) {
			v.t.Errorf("%s: %s has a %s", v.doing, name, n.Data)
		}
		for _, a := range n.Attr {
			value := strings.ToLower(strings.TrimSpace(a.Val))
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "style", strings.Contains(a.Key, "evil"), strings.ContainsAny(a.Key, `"'<`):
				v.t.Errorf("%s: %s: the attribute %s of %s", v.doing, name, a.Key, n.Data)
			case (a.Key == "href" || a.Key == "src" || a.Key == "action") && !strings.HasPrefix(value, "#") && !strings.HasPrefix(value, "data:image/") && value != "":
				v.t.Errorf("%s: %s: %s of %s leads to %.80q", v.doing, name, a.Key, n.Data, a.Val)
			}
		}
	}
}
