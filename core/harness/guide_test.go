package harness

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the guide anew")

const guideFile = "../../docs/harness.md"

// TestGuide holds the guide for authors of harnesses to the values it is printed from.
func TestGuide(t *testing.T) {
	want := guide(t)
	if *update {
		if err := os.WriteFile(guideFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have := string(readFile(t, guideFile)); have != want {
		t.Errorf("%s is not what the checks say; go test ./core/harness -run Guide -update writes it", guideFile)
	}
	if r := judge(t, change(t), Scope{}); r.Verdict != Fulfilled {
		t.Errorf("the row of the guide fails %v", failing(r))
	}
}

func guide(t *testing.T) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p(`# What a harness should leave behind

<!-- Printed from the values of the checks: go test ./core/harness -run Guide -update -->

This guide is for authors of harnesses. It says what to write into a row of ` + "`rollouts.jsonl`" + ` so that a reader can trust it as evidence: for training, for an audit, or to
understand a failure later. Success of the agent plays no part: a failed task with complete evidence is in order, a solved one with gaps is not.

    rollscope harness rollouts.jsonl            which capabilities the rows fulfil, and where they fail first
    rollscope harness rollouts.jsonl --json     every check on every row
    rollscope checks calls.timing               what one check asks
    rollscope harness matrix --harness old=RUN_1 --harness new=RUN_2

The exit status is 0 if every row fulfils everything that applies, 1 if not, and 2 if the input cannot be read.

## What applies

Say what your harness has; nothing is concluded from what a row lacks.

| Flag | Meaning |
|---|---|
| ` + "`--no-tools`" + ` | no tools are dispatched |
| ` + "`--no-verifier`" + ` | there is no verifier |
| ` + "`--no-steps`" + ` | the policy has no steps |
| ` + "`--require-sandbox`" + ` | every row must have a sandbox record |

## Nine capabilities`)
	p("")
	p("| | Name | What a reader can rely on | Checks |\n|---|---|---|---|")
	for _, c := range AllCapabilities() {
		p("| %s | `%s` | %s | %d |", c.Label(), c, c.Text(), carrying[c].Len())
	}
	p(`
A capability is fulfilled on a row if every check that applies and carries its label passes. A check whose prerequisites fail is not evaluated and counts as failed; it names what
it waits for, so mend that first.

## A complete row

Everything passes on this row. Further members may stand anywhere.

` + "```json\n" + strings.TrimSpace(string(readFile(t, "testdata/complete.json"))) + "\n```" + `

## Advice

- Record every attempt, also those that the server refused or that never reached it. An attempt with an error needs an ` + "`error_category`" + `; without any answer, write ` + "`response`" + ` and ` + "`status_code`" + ` as null.
- Give every attempt an id of its own and refer to it by that id: once from the invocation that made it, once from the step it belongs to. A call that only shortened the context is
  listed by an observation of kind ` + "`context_compaction`" + ` instead of a step.
- Keep bodies as they went over the wire. Put images into them as ` + "`data:`" + ` addresses; a link or a file id is not evidence.
- Write null where you do not know a value and the check allows it. A made-up zero is worse than null.
- If you know that something was lost, declare a gap. The checks will fail, and rightly so.

## The checks

In the order in which they are run. Schema checks look at one place; semantic checks at how places fit together. In conditions, ` + "`name`?" + ` may be missing, and shapes with a name are
explained [below](#shapes).`)
	for _, c := range All() {
		p("\n### `%s`\n", c.ID)
		p("**%s.** %s\n", c.Title, c.Text)
		p("- %s: %s", strings.Join(c.Evidence.Labels(), ", "), c.Kind)
		p("- Place: `%s`", c.Location)
		p("- Condition: %s", c.Condition())
		if c.Applies != Always {
			p("- Applies %s", c.Applies)
		}
		if len(c.Needs) > 0 {
			when := ""
			if c.Applies == WithSandbox {
				when = " where sandbox records are required"
			}
			p("- Waits for `%s`%s", strings.Join(c.Needs, "`, `"), when)
		}
	}
	p("\n## Shapes\n\n| Name | Condition |\n|---|---|")
	for _, s := range NamedShapes() {
		p("| %s | %s |", s.Name, s.Text)
	}
	p(`
A text is blank if it holds nothing but white space, in any script. A whole number may be written as ` + "`200.0`" + `; true and false are never numbers. Times are seconds from 0 on and may
not be negative. References compare values deeply: ` + "`1`" + ` and ` + "`1.0`" + ` are the same, every member of an object counts, their order does not.

## Lines

UTF-8, one object a line. A line ends at LF, CR LF or CR. Blank lines are skipped. One line that cannot be read refuses the whole file: NaN and Infinity, a byte-order mark, anything but
an object, integers of more than 4,300 digits, more than 1,024 levels of nesting.

## Against a witness

A scripted scenario can say more: what really happened, as a server between harness and model saw it. These checks compare a row with such a witness.
`)
	p("| Check | Evidence | What is in order where it passes | Otherwise |\n|---|---|---|---|")
	for _, c := range Behaviors() {
		p("| `%s` | %s | %s | %s |", c.ID, strings.Join(c.Evidence.Labels(), ", "), c.Title, c.Fails)
	}
	return b.String()
}
