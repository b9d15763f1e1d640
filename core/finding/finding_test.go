package finding

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/integer"
	"github.com/rollscope/rollscope/core/value"
)

func TestTable(t *testing.T) {
	id := regexp.MustCompile(`^(layout|records|coverage|outcomes|omitted|recovery|batch|calls|traj|perf|atif)\.[a-z_]+$`)
	seen := map[string]bool{}
	for _, info := range All() {
		if !id.MatchString(info.ID) || seen[info.ID] {
			t.Errorf("id %q", info.ID)
		}
		seen[info.ID] = true
		if info.Severity.Rank() < 0 || info.Title == "" || info.Text == "" || info.Says == "" {
			t.Errorf("%s is not complete", info.ID)
		}
		if strings.HasSuffix(info.Title, ".") || !strings.HasSuffix(info.Text, ".") || strings.HasSuffix(info.Says, ".") {
			t.Errorf("%s: a title and a message have no full stop, a text has one", info.ID)
		}
		if strings.Count(info.Says, "{") != strings.Count(info.Says, "}") {
			t.Errorf("%s: %s", info.ID, info.Says)
		}
	}
	if len(seen) != 168 {
		t.Errorf("%d ids", len(seen))
	}
}

func TestMessage(t *testing.T) {
	f := New(IndexMismatch, "r", "f", value.M("field", value.Text("_ng_task_index")), value.M("expected", value.Int(3)), value.M("saved", value.Null))
	if got := f.Message(); got != `"_ng_task_index" is nothing, expected 3` {
		t.Error(got)
	}
	f = New(BadFailureRecord, "r", "f", value.M("errors", value.List(
		value.Object(value.M("path", value.Text("a.b")), value.M("type", value.Text("missing"))),
		value.Object(value.M("path", value.Text("")), value.M("type", value.Text("value_error"))))))
	if got := f.Message(); got != `the structured failure has faults: a.b type "missing", the document type "value_error"` {
		t.Error(got)
	}
}

func TestSort(t *testing.T) {
	list := []Finding{
		New("b", "r", "f").At(2, 10),
		New("a", "r", "f").At(2, 10).Of("x").On(integer.Of(10)),
		New("a", "r", "f").At(2, 10).Of("x").On(integer.Of(9)),
		New("a", "r", "f").At(2, 10).Of("x"),
		New("a", "r", "f").At(2, 10),
		New("a", "r", "f", value.M("v", value.Int(2))),
		New("a", "r", "f", value.M("v", value.Int(10))),
		New("a", "r", ""),
		New("z", "", "z"),
	}
	want := slices.Clone(list)
	slices.Reverse(want)
	Sort(list)
	for i := range list {
		if Compare(list[i], want[i]) != 0 {
			t.Errorf("at %d stands %+v", i, list[i])
		}
	}
	if got := Count(list, "a").String(); got != `{"a":7}` {
		t.Error(got)
	}
}
