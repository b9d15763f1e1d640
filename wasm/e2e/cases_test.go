package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/view"
)

// A step is one judging of a case: its files in order, what is ignored, and where the reports are that must come
// out; see testdata/health of the main module.
type step struct {
	Files    []string
	Ignored  []string
	Expected string
}

const goldens = top + "/testdata/health"

// cases lists the folders of what goes through the page: made-up ones, and one of real rows.
func cases(t *testing.T) []string {
	t.Helper()
	list := []string{"nemo_fabric_deepagents_reasoning_gym"}
	for n := 1; n <= 17; n++ {
		found, err := filepath.Glob(filepath.Join(goldens, fmt.Sprintf("s%02d-*", n)))
		if err != nil || len(found) != 1 {
			t.Fatalf("case s%02d: %q %v", n, found, err)
		}
		list = append(list, filepath.Base(found[0]))
	}
	return list
}

func steps(t *testing.T, name string) []step {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(goldens, name, "case.json"))
	var c struct{ Steps []step }
	if err == nil {
		err = json.Unmarshal(content, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	// A file that is not there can be named to the command, but not given to a page.
	return slices.DeleteFunc(c.Steps, func(s step) bool { return s.Expected == "absent" })
}

// TestCases gives the files of every step to the page, through the file input and through a drop, and holds the
// page's numbers and saved reports against the command, which runs beside the same files under the same names, and
// against the reference.
func TestCases(t *testing.T) {
	for _, name := range cases(t) {
		t.Run(name, func(t *testing.T) {
			p := open(t, "")
			for _, s := range steps(t, name) {
				t.Run("files/"+s.Expected, func(t *testing.T) {
					// Files come in without their folders.
					dir := filepath.Join(goldens, name, "input", filepath.Dir(s.Files[0]))
					names, paths := bases(s.Files), []string{}
					for _, base := range names {
						paths = append(paths, filepath.Join(dir, base))
					}
					want := judge(t, dir, names, s.Ignored, "")
					if slices.Equal(names, s.Files) {
						want.golden(t, filepath.Join(goldens, name, "expected", s.Expected))
					}
					p.In(t)
					p.SetHash(fragment(names, s.Ignored))
					p.ChooseFiles(paths...)
					p.WaitState("ready")
					p.holds(want)
				})
				t.Run("drop/"+s.Expected, func(t *testing.T) {
					run := filepath.Join(t.TempDir(), "run")
					for _, file := range s.Files {
						copyFile(t, filepath.Join(goldens, name, "input", file), filepath.Join(run, file))
					}
					// The page leaves out the folders that all files share.
					dir, names := run, s.Files
					want := judge(t, dir, names, s.Ignored, "")
					want.golden(t, filepath.Join(goldens, name, "expected", s.Expected))
					p.In(t)
					p.SetHash(fragment(names, s.Ignored))
					p.Drop(run)
					p.WaitState("ready")
					p.holds(want)
				})
			}
			if list := p.Requests(); len(list) > 0 {
				t.Errorf("requests after loading: %q", list)
			}
		})
	}
}

// fragment is the State that judges files in this order without these checks.
func fragment(names, ignored []string) string {
	s := view.State{Tab: "health", Ignore: ignored}
	if len(names) > 1 {
		s.Order = names
	}
	return s.Encode()
}

func bases(paths []string) []string {
	list := make([]string, len(paths))
	for i, path := range paths {
		list[i] = filepath.Base(path)
	}
	return list
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, content, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A judgement is what the command says of files.
type judgement struct {
	refused  string // why there is no report, "" where there is one
	summary  []byte
	verdicts []byte
	stats    map[string]string // what the page must show, made from the files and the summary
	rows     int
	bad      int // rows that cannot be read at all
}

// judge runs "rollscope health" inside a folder and makes of its reports, and of the files' own bytes, the numbers
// that the page must show.
func judge(t testing.TB, dir string, names, ignored []string, profile string) *judgement {
	t.Helper()
	out := t.TempDir()
	args := append([]string{"health"}, names...)
	args = append(args, "-o", out)
	for _, id := range ignored {
		args = append(args, "--ignore="+id)
	}
	if profile != "" {
		args = append(args, "--profile", profile)
	}
	_, talk, code := product.Run(t, dir, args...)
	j := &judgement{stats: map[string]string{}}
	j.account(t, dir, names)
	if code == 2 {
		j.refused = strings.TrimSpace(talk)
		if left, err := os.ReadDir(out); err != nil || len(left) > 0 {
			t.Errorf("a refused run has left %v %v", left, err)
		}
		return j
	}
	if code != 0 {
		t.Fatalf("rollscope %s: exit %d: %s", strings.Join(args, " "), code, talk)
	}
	for name, to := range map[string]*[]byte{"quality_summary.json": &j.summary, "rollout_verdicts.jsonl": &j.verdicts} {
		var err error
		if *to, err = os.ReadFile(filepath.Join(out, name)); err != nil {
			t.Fatal(err)
		}
	}
	j.count(t)
	return j
}

// account counts lines and bytes the plain way.
func (j *judgement) account(t testing.TB, dir string, names []string) {
	t.Helper()
	size, lines, blank := 0, 0, 0
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		size += len(content)
		for line := range strings.Lines(string(content)) {
			lines++
			if strings.Trim(line, " \t\r\v\f\n") == "" {
				blank++
			}
		}
	}
	j.rows = lines - blank
	for name, n := range map[string]int{
		"accounting.files": len(names), "accounting.bytes": size, "accounting.lines": lines, "accounting.blank": blank,
		"rollout.count": j.rows, "filter.count": j.rows,
	} {
		j.stats[name] = strconv.Itoa(n)
	}
}

// count takes the numbers out of the summary.
func (j *judgement) count(t testing.TB) {
	t.Helper()
	var s struct {
		Run struct {
			Artifacts struct {
				Coverage map[string]struct{ Evaluated, Unobserved, Ignored int }
			}
			Verdicts map[string]int
			Issues   map[string]int
		}
	}
	if err := json.Unmarshal(j.summary, &s); err != nil {
		t.Fatal(err)
	}
	for word, n := range s.Run.Verdicts {
		j.stats["verdict."+word] = strconv.Itoa(n)
	}
	for id, c := range s.Run.Artifacts.Coverage {
		j.stats["check."+id+".evaluated"] = strconv.Itoa(c.Evaluated)
		j.stats["check."+id+".unobserved"] = strconv.Itoa(c.Unobserved)
		j.stats["check."+id+".ignored"] = strconv.Itoa(c.Ignored)
		j.stats["check."+id+".fired"] = strconv.Itoa(s.Run.Issues[id])
	}
	for line := range strings.Lines(string(j.verdicts)) {
		// A row that can be read but breaks the schema has a finding of record_unreadable as well, but an identity.
		if strings.HasPrefix(line, `{"_ng_task_index":"__unreadable_record__:`) {
			j.bad++
		}
	}
	if len(s.Run.Verdicts) != 3 || len(s.Run.Artifacts.Coverage) != 14 || len(s.Run.Issues) != 14 {
		t.Fatalf("the summary is not what it was: %s", j.summary)
	}
}

// golden holds the command's reports to those of the reference.
func (j *judgement) golden(t testing.TB, expected string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(expected, "health_error.json")); err == nil {
		if j.refused == "" {
			t.Errorf("the command judged what the reference refuses")
		}
		return
	}
	for name, have := range map[string][]byte{"quality_summary.json": j.summary, "rollout_verdicts.jsonl": j.verdicts} {
		want, err := os.ReadFile(filepath.Join(expected, name))
		if err != nil {
			t.Fatal(err)
		}
		same(t, "the command's "+name+" and the reference's", have, want)
	}
}

// holds compares the page with what the command said of the same files.
func (p *Page) holds(want *judgement) {
	p.t.Helper()
	if want.refused != "" {
		p.refuses(want)
		return
	}
	have := p.Stats()
	for name, value := range want.stats {
		if have[name] != value {
			p.t.Errorf("stat %s is %q, want %q", name, have[name], value)
		}
	}
	number := func(name string) int {
		n, err := strconv.Atoi(have[name])
		if err != nil {
			p.t.Errorf("stat %s is %q, want a number", name, have[name])
		}
		return n
	}
	if read, bad := number("accounting.read"), number("accounting.unreadable"); read+bad != want.rows || bad != want.bad {
		p.t.Errorf("%d rows are read and %d unreadable, want %d unreadable of %d", read, bad, want.bad, want.rows)
	}
	if text := have["accounting.repaired"]; text != "" && number("accounting.repaired") > want.bad {
		p.t.Errorf("%s rows are repaired for display, but only %d are unreadable", text, want.bad)
	}
	for _, a := range p.Alerts() {
		if a.Code == "refused_report" {
			p.t.Errorf("the page refuses: %s", a.Text)
		}
	}
	if p.t.Failed() {
		return
	}
	same(p.t, "the page's summary and the command's", p.Download("quality_summary.json"), want.summary)
	same(p.t, "the page's verdicts and the command's", p.Download("rollout_verdicts.jsonl"), want.verdicts)
}

// refuses holds a page to say that there is no report, and to show all rows nevertheless.
func (p *Page) refuses(want *judgement) {
	p.t.Helper()
	p.WaitAlert("refused_report")
	have := p.Stats()
	for _, name := range []string{"accounting.lines", "accounting.bytes", "rollout.count"} {
		if have[name] != want.stats[name] {
			p.t.Errorf("stat %s is %q, want %q", name, have[name], want.stats[name])
		}
	}
	for name := range have {
		if strings.HasPrefix(name, "check.") {
			p.t.Errorf("there is no report, but %s is %s", name, have[name])
		}
	}
	if n := p.offered(); n > 0 {
		p.t.Errorf("there is no report, but %d of its files are offered", n)
	}
	hash := p.Hash()
	p.Click("Rollouts")
	p.Wait(fmt.Sprintf(`document.querySelectorAll("#region-main tr[data-rollout]").length === %d`, want.rows))
	p.SetHash(hash)
}

// offered counts the reports that can be saved.
func (p *Page) offered() int {
	p.t.Helper()
	return Eval[int](p, `document.querySelectorAll("[data-download='quality_summary.json'],[data-download='rollout_verdicts.jsonl']").length`)
}

// same compares two files byte for byte.
func same(t testing.TB, what string, have, want []byte) {
	t.Helper()
	if string(have) == string(want) {
		return
	}
	a, b := strings.SplitAfter(string(have), "\n"), strings.SplitAfter(string(want), "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Errorf("%s differ in line %d of %d and %d\nhave %.400q\nwant %.400q", what, i+1, len(a), len(b), at(a, i), at(b, i))
			return
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}
