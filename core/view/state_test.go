package view

import (
	"reflect"
	"strings"
	"testing"
)

// full is a State with every field set to something awkward.
func full() State {
	return State{
		Order: []string{"a/b,c.jsonl", `back\slash`, "ü:7"}, Drop: []string{"x y"}, Apart: true, Run: "run & co", Tab: "rollouts",
		Filter: `reward=1 name ~ "50 % + #"`, Sort: "-completion", Columns: []Shown{{Key: "task"}, {Key: "name", Width: 250}},
		Check: "model_call_failed", Rollout: "a:b/c.jsonl:17", Part: "raw", Turn: 12, At: "c5.request", Token: 7, By: "entropy", Search: "é [x]", Find: "a & b", Hit: 3, Open: []string{"1.2", "3"}, Profile: "main", Ignore: []string{"a", "b"},
		Set:   []Setting{{"harness.by", `agent,"x"=y`}, {"scores.at", "0.5"}},
		Files: []File{{Name: "a:b, c.jsonl", Size: 5 << 30, Hash: "00ff"}, {Name: "ü", Size: 0}},
	}
}

func TestStateRoundTrip(t *testing.T) {
	value := reflect.ValueOf(full())
	for i := range value.NumField() {
		if value.Field(i).IsZero() {
			t.Errorf("%s is not set: the round trip would not notice its loss", value.Type().Field(i).Name)
		}
	}
	for _, s := range []State{{}, full(), {Tab: "tasks", Sort: "solved"}} {
		text := s.Encode()
		for _, form := range []string{text, "#" + text, "?" + text} {
			got, unknown := Decode(form)
			if len(unknown) > 0 || !reflect.DeepEqual(got, s) {
				t.Errorf("%s:\n got %+v %v\nwant %+v", form, got, unknown, s)
			}
		}
		if again, _ := Decode(text); again.Encode() != text {
			t.Errorf("%s is not canonical", text)
		}
	}
}

// A change must not reach the State that it was made of.
func TestWithCopies(t *testing.T) {
	s := full()
	s.With(func(s *State) {
		for _, list := range [][]string{s.Order, s.Drop, s.Open, s.Ignore} {
			list[0] = "changed"
		}
		s.Columns[0].Key, s.Files[0].Name, s.Set[0].Value = "changed", "changed", "changed"
	})
	if !reflect.DeepEqual(s, full()) {
		t.Errorf("%+v", s)
	}
}

func TestDecodeByHand(t *testing.T) {
	for _, c := range []struct {
		text, unknown string
		want          State
	}{
		{"", "", State{}},
		{"#", "", State{}},
		{"&&tab=health&", "", State{Tab: "health"}},
		{"tab", "", State{}},
		{"foo=1&tab=health&bar", "foo bar", State{Tab: "health"}},
		{"turn=x", "turn", State{}},
		{"turn=-3", "turn", State{}},
		{"turn=99999999999999999999", "turn", State{}},
		{"filter=%zz", "filter", State{}},
		{"filter=a%3D1+b", "", State{Filter: "a=1 b"}},
		{"columns=", "", State{}},
		{"columns=a,,b:90,a:5,c:x,d:-4,:7,e:99999", "", State{Columns: []Shown{{Key: "a"}, {"b", 90}, {Key: "c"}, {Key: "d"}, {"e", broadest}}}},
		{"columns=b:7", "", State{Columns: []Shown{{"b", narrowest}}}},
		{"files=a", "files", State{}},
		{"files=a:1", "files", State{}},
		{"files=:1:", "files", State{}},
		{"files=a:-1:", "files", State{}},
		{"files=a:1:XY", "files", State{}},
		{"files=a:1:0f,b", "files", State{}},
		{"files=a:1:", "", State{Files: []File{{Name: "a", Size: 1}}}},
		{"order=a%5C%2Cb,c", "", State{Order: []string{"a,b", "c"}}},
		{"apart=yes", "", State{}},
	} {
		got, unknown := Decode(c.text)
		if strings.Join(unknown, " ") != c.unknown || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, unknown %v; want %+v, unknown %q", c.text, got, unknown, c.want, c.unknown)
		}
	}
}

func TestToTab(t *testing.T) {
	s := full()
	s.Tab = "rollouts"
	if there := s.ToTab("rollouts"); len(there.Columns) == 0 || there.Sort != "" || there.Rollout != "" || there.Filter != s.Filter {
		t.Errorf("%+v", there)
	}
	if other := s.ToTab("tasks"); len(other.Columns) != 0 || other.Filter != s.Filter || other.Turn != 0 || len(other.Open) != 0 {
		t.Errorf("%+v", other)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(full().Encode())
	f.Add("columns=a:1,b:&files=x:1:&turn=7&%41=&=&tab=%")
	f.Fuzz(func(t *testing.T, text string) {
		s, _ := Decode(text)
		again, unknown := Decode(s.Encode())
		if len(unknown) > 0 || again.Encode() != s.Encode() {
			t.Errorf("%q → %q → %q, unknown %v", text, s.Encode(), again.Encode(), unknown)
		}
	})
}
