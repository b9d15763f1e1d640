package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/runfolder"
)

// deskWith opens files of a few rows each, by name.
func deskWith(t testing.TB, names ...string) *Desk {
	t.Helper()
	var files []runfolder.File
	data := map[string][]byte{}
	for _, name := range names {
		data[name] = []byte(strings.Repeat(`{"_ng_task_index":1,"_ng_rollout_index":0,"response":{}}`+"\n", len(strings.TrimPrefix(name, "run/"))))
		files = append(files, runfolder.File{Path: name, Size: int64(len(data[name]))})
	}
	return openDesk(t, files, data)
}

// A link made on one page opens on another as soon as its files are there, whatever they are called.
func TestLinkNamesFiles(t *testing.T) {
	d := deskWith(t, "a/rollouts.jsonl", "b/rollouts-x.jsonl")
	s, _ := d.Read("tab=rollouts&rollout=b/rollouts-x.jsonl:3&order=b/rollouts-x.jsonl,a/rollouts.jsonl&filter=task%3D1", Host{})
	fragment, needs := d.Link(s)
	if len(needs) != 2 {
		t.Fatalf("needs %v", needs)
	}
	for _, i := range needs {
		d.Hashed(i, strings.Repeat("0a", 15)+"0"+string("123"[i]))
	}
	fragment, needs = d.Link(s)
	if len(needs) > 0 || !strings.HasSuffix(fragment, "&files=b/rollouts-x.jsonl:1026:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a02,a/rollouts.jsonl:912:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a01") {
		t.Fatalf("%s needs %v", fragment, needs)
	}

	state := func(p *Page) string {
		var list []string
		for _, r := range p.Missing.Table.Rows {
			list = append(list, r.Cells[3].Text.Text)
		}
		return strings.Join(list, ", ")
	}
	at := func(d *Desk) (*Page, State) {
		s, odd := d.Read(fragment, Host{})
		if len(odd) > 0 {
			t.Fatal(odd)
		}
		p, _ := d.Page(s, Host{}, nil)
		return p, s
	}
	// Nothing is there yet.
	other := new(Desk)
	p, s := at(other)
	if p.Missing == nil || state(p) != "missing, missing" || p.Missing.Go.Href != "#" || p.Missing.Table.Note != "0 of 2 given" || len(other.Unhashed(s)) > 0 {
		t.Fatalf("%+v", p.Missing)
	}
	if s.Encode() != fragment {
		t.Errorf("the link is lost while its files are missing: %s", s.Encode())
	}
	// One file has the size under another name, one the name with another size.
	other = openDesk(t, []runfolder.File{{Path: "x.jsonl", Size: 1026}, {Path: "rollouts.jsonl", Size: 3}},
		map[string][]byte{"x.jsonl": []byte(strings.Repeat(`{"_ng_task_index":1,"_ng_rollout_index":0,"response":{}}`+"\n", 18)), "rollouts.jsonl": []byte("{}\n")})
	p, s = at(other)
	if state(p) != "being compared, differs: the file here has 3 bytes" || !slices.Equal(other.Unhashed(s), []int{0}) {
		t.Fatalf("%s, to hash %v", state(p), other.Unhashed(s))
	}
	other.Hashed(0, "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a02")
	p, s = at(other)
	if state(p) != "given as x.jsonl, differs: the file here has 3 bytes" || len(other.Unhashed(s)) > 0 || p.Missing.Table.Note != "1 of 2 given, 1 differs" {
		t.Fatalf("%s", state(p))
	}
	on, _ := other.Read(p.Missing.Go.Href, Host{})
	if on.Rollout != "x.jsonl:3" || len(on.Files) > 0 || on.Order[0] != "x.jsonl" {
		t.Errorf("going on leads to %+v", on)
	}
	if p, _ := other.Page(on, Host{}, nil); p.Rollout == nil {
		t.Error("going on shows no rollout")
	}
	// All are there, and one that the link does not name.
	other = deskWith(t, "run/b/rollouts-x.jsonl", "run/a/rollouts.jsonl", "run/c/rollouts.jsonl")
	for _, i := range other.Unhashed(s) {
		other.Hashed(i, "ff")
	}
	other.Hashed(0, "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a02")
	other.Hashed(1, "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a01")
	p, s = at(other)
	if p.Missing != nil || p.Rollout == nil || len(s.Files) > 0 || !slices.Equal(s.Drop, []string{"c/rollouts.jsonl"}) || s.Filter != "task=1" {
		t.Errorf("%+v", s)
	}
	// Hashes of a list that is gone mean nothing.
	other.Open([]runfolder.File{{Path: "rollouts.jsonl", Size: 912}}, false)
	if s, _ := Decode(fragment); len(other.Unhashed(s)) != 1 {
		t.Error("the hash of another file is taken for this one's")
	}
}

func TestLinkWithoutHashes(t *testing.T) {
	s, _ := Decode("tab=rollouts&files=rollouts.jsonl:912:")
	d := deskWith(t, "a/rollouts.jsonl")
	if l := d.link(s); !l.complete() {
		t.Errorf("%+v", l.files)
	}
	var many []string
	for i := range mostHashed + 1 {
		many = append(many, strings.Repeat("d/", i)+"rollouts.jsonl")
	}
	if fragment, needs := deskWith(t, many...).Link(State{}); len(needs) > 0 || strings.Count(fragment, ".jsonl:") != len(many) {
		t.Errorf("%d hashes for %s", len(needs), fragment)
	}
}

func TestOddLinks(t *testing.T) {
	d, _ := sampleDesk(t)
	for fragment, want := range map[string]string{
		"tab=rollouts&foo=1&turn=x": "foo turn",
		"tab=nope":                  "tab=nope",
		"tab=rollouts&sort=blub&columns=task,xyz:9":                "sort=blub columns=xyz",
		"tab=tasks&sort=-solved&columns=cells,reward":              "columns=reward",
		"tab=tasks&sort=completion":                                "sort=completion",
		"part=zzz&rollout=rollouts.jsonl:1":                        "part=zzz",
		"search=e&set=search.case%3D7,search.as%3Dglob":            "search.as=glob search.case=7",
		"search=e&set=search.in%3Dmessage%2Bbogus,search.on%3D1":   "search.in=message+bogus search.on=1",
		"search=e&set=search.case%3D1,search.in%3Dtool_call%2Ball": "",
		"apart=1&run=elsewhere":                                    "run=elsewhere",
		"tab=files&sort=anything":                                  "sort=anything",
		"tab=health&columns=task&check=nope":                       "check=nope columns=task",
		"rollout=rollouts.jsonl:1&sort=-reward":                    "",
		"tab=rollouts&sort=-completion&columns=place&filter=a%3D1": "",
	} {
		s, odd := d.Read(fragment, Host{})
		if got := strings.Join(odd, " "); got != want {
			t.Errorf("%s: %q, want %q", fragment, got, want)
		}
		if _, again := d.Read(s.Encode(), Host{}); len(again) > 0 {
			t.Errorf("%s: said again: %v", fragment, again)
		}
		d.Page(s, Host{}, nil)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("tab=tasks&sort=-solved&filter=task.solved>1&columns=cells:80")
	f.Add("tab=rollouts&rollout=rollouts.jsonl:6&part=raw&turn=3")
	f.Add("files=rollouts.jsonl:1:00,b:2:&order=x")
	d := deskWith(f, "rollouts.jsonl")
	f.Fuzz(func(t *testing.T, text string) {
		s, _ := d.Read(text, Host{})
		d.Page(s, Host{}, map[string]int{"rollouts": 3, "tasks": -1})
		if _, odd := d.Read(s.Encode(), Host{}); len(odd) > 0 {
			t.Errorf("%q → %q is still odd: %v", text, s.Encode(), odd)
		}
	})
}
