package harness

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestRecord(t *testing.T) {
	var rows Rows
	base := Row{ID: "a.b", Kind: Health, Evidence: evidence(Steps)}
	add := func(s Status, location, reason, blocked string) {
		t.Helper()
		row := base
		row.Status, row.Locations, row.Reasons, row.BlockedBy = s, []string{location}, []string{reason, ""}, []string{blocked}
		if err := rows.Record(row); err != nil {
			t.Fatal(err)
		}
	}
	add(NotApplicable, "x", "", "")
	add(Pass, "x", "", "p")
	if rows[0].Status != Pass || len(rows) != 1 || len(rows[0].Reasons) != 0 {
		t.Errorf("%+v", rows)
	}
	add(Fail, "y", "because", "p")
	add(Pass, "z", "", "")
	add(NotApplicable, "y", "because", "q")
	row := rows[0]
	if row.Status != Fail || !slices.Equal(row.Locations, []string{"x", "y", "z"}) || !slices.Equal(row.Reasons, []string{"because"}) || !slices.Equal(row.BlockedBy, []string{"p", "q"}) {
		t.Errorf("%+v", row)
	}
	for name, spoil := range map[string]func(*Row){
		"kind":     func(r *Row) { r.Kind = Schema },
		"evidence": func(r *Row) { r.Evidence = 0 },
		"tier":     func(r *Row) { r.Tier = P1 },
	} {
		bad := base
		spoil(&bad)
		if err := rows.Record(bad); !errors.Is(err, ErrConflict) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	if err := rows.Record(Row{ID: "c.d", Tier: 3}); err == nil {
		t.Error("a tier that does not exist")
	}
	if rows.Find("c.d") != nil {
		t.Error("recorded all the same")
	}
}

func TestGate(t *testing.T) {
	for _, c := range []struct {
		statuses string // p, f, n; upper case for another tier
		passes   bool
	}{
		{"", false}, {"p", true}, {"pp", true}, {"pf", false}, {"n", false}, {"np", true}, {"nf", false}, {"P", false}, {"pF", true}, {"PN", false},
	} {
		rows := Rows{}
		for i, s := range c.statuses {
			row := Row{ID: "a." + string(rune('a'+i)), Status: map[rune]Status{'p': Pass, 'f': Fail, 'n': NotApplicable}[s|0x20]}
			if s < 'a' {
				row.Tier = P1
			}
			rows = append(rows, row)
		}
		if rows.Gate(P0) != c.passes {
			t.Errorf("%q: %v", c.statuses, !c.passes)
		}
	}
}

// TestRun holds the order in which a check is given up (§5).
func TestRun(t *testing.T) {
	for _, c := range []struct {
		applies, available, need, ok bool
		want                         Status
		reason                       string
		asked                        bool
	}{
		{false, false, false, false, NotApplicable, "", false},
		{false, true, true, false, NotApplicable, "", false},
		{true, false, false, true, Fail, unavailable, false},
		{true, false, true, true, Fail, unavailable, false},
		{true, true, false, true, Fail, "a.a", false},
		{true, true, true, true, Pass, "", true},
		{true, true, true, false, Fail, "why", true},
	} {
		rows := Rows{}
		if c.need {
			rows = Rows{{ID: "a.a", Status: Pass}}
		}
		asked := false
		err := rows.run(Row{ID: "a.b", Locations: []string{"$"}}, []string{"a.a"}, c.applies, c.available, func() (bool, string) { asked = true; return c.ok, "why" })
		if err != nil {
			t.Fatal(err)
		}
		row := rows.Find("a.b")
		reason := strings.Join(row.Reasons, "|")
		if row.Status != c.want || asked != c.asked || c.reason == "" && reason != "" || !strings.Contains(reason, c.reason) {
			t.Errorf("%+v: %+v, asked %v", c, row, asked)
		}
		if blocked := len(row.BlockedBy) > 0; blocked == c.need {
			t.Errorf("%+v: waits for %v", c, row.BlockedBy)
		}
	}
}

func TestRegistry(t *testing.T) {
	if err := Validate(All()); err != nil {
		t.Error(err)
	}
	for i, c := range All() {
		found, ok := ByID(c.ID)
		if !ok || found != c || Position(c.ID) != i || At(i) != c {
			t.Errorf("%s is not at %d", c.ID, i)
		}
		if c.Kind != Schema && c.Rule == "" || c.Tier != P0 || len(c.Evidence.List()) == 0 {
			t.Errorf("%s: %+v", c.ID, c)
		}
	}
	if _, ok := ByID("calls"); ok || Position("") >= 0 {
		t.Error("found a check that is none")
	}
	seen := map[string]bool{}
	for k := keyNone + 1; k < keyCount; k++ {
		name := k.String()
		if name == "" || seen[name] || keyOf([]byte(name)) != k {
			t.Errorf("key %d is %q", k, name)
		}
		seen[name] = true
	}
	for _, name := range []string{"", "x", "model_call", "model_calls_", "Model_calls", "\x00"} {
		if keyOf([]byte(name)) != keyNone {
			t.Errorf("%q is a key", name)
		}
	}
	if keyCount > 64 {
		t.Error("more keys than an object can mark")
	}
}

func TestValidateFinds(t *testing.T) {
	for name, spoil := range map[string]func(*Check){
		"id":              func(c *Check) { c.ID = "no point" },
		"title":           func(c *Check) { c.Title = "" },
		"text":            func(c *Check) { c.Text = "" },
		"reason":          func(c *Check) { c.Fails = "" },
		"location":        func(c *Check) { c.Location = "row" },
		"tier":            func(c *Check) { c.Tier = 3 },
		"kind":            func(c *Check) { c.Kind = Behavioral },
		"rule and shape":  func(c *Check) { c.rule = (*Judge).media },
		"unknown need":    func(c *Check) { c.Needs = []string{"calls.nothing"} },
		"semantic shape":  func(c *Check) { c.Kind = Semantic },
		"neither of them": func(c *Check) { c.shape = nil },
	} {
		bad := *At(Position("calls.identity"))
		spoil(&bad)
		if Validate([]*Check{At(0), &bad}) == nil {
			t.Errorf("%s: not noticed", name)
		}
	}
	if Validate([]*Check{At(0), At(0)}) == nil {
		t.Error("id twice: not noticed")
	}
	late := *At(Position("ownership.call_owner"))
	late.Needs = []string{"turns.present"}
	if Validate([]*Check{At(Position("turns.present")), &late}) == nil {
		t.Error("a need that may not apply: not noticed")
	}
}

func TestWords(t *testing.T) {
	for _, c := range AllCapabilities() {
		if c.Label() == "" || c.String() == "" || c.Text() == "" {
			t.Errorf("capability %d", c)
		}
	}
	if got := evidence(StepJoin, ModelCallStatus).Labels(); !slices.Equal(got, []string{"TE-1", "TE-9"}) {
		t.Errorf("%v", got)
	}
	for a := range applicabilities {
		if a.String() == "" {
			t.Errorf("applicability %d", a)
		}
	}
	for _, s := range NamedShapes() {
		if s.Name == "" || s.Text == "" || s.Text == s.Name {
			t.Errorf("%+v", s)
		}
	}
	if ParseProfile("") != nil || ParseProfile(Profile) != nil || ParseProfile("gym-p0/v3") == nil {
		t.Error("profiles")
	}
}
