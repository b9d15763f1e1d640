package filter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

var fields = Fields{
	{Name: "task", Kind: AnyKind, Title: "task index or id"},
	{Name: "name", Kind: TextKind, Title: "name of the task"},
	{Name: "check", Aliases: []string{"finding"}, Kind: TextKind, List: true, Closed: true, Title: "ids of findings",
		Values: func() []string { return []string{"model_call_failed", "agent_turn_hollow", "and"} }},
	{Name: "agent", Kind: TextKind, Title: "agent", Values: func() []string { return []string{"opencode", "openclaw", "claude code"} }},
	{Name: "verdict", Kind: TextKind, Closed: true, Title: "verdict", Values: func() []string { return []string{"healthy", "unhealthy", "unobserved"} }},
	{Name: "reward", Kind: NumberKind, Title: "reward"},
	{Name: "latency", Kind: NumberKind, Title: "latency in seconds"},
	{Name: "turns", Kind: NumberKind, Title: "turns"},
	{Name: "status", Kind: NumberKind, List: true, Title: "status codes of failed calls"},
	{Name: "prompt_tokens", Aliases: []string{"prompt"}, Kind: NumberKind, Title: "prompt tokens"},
	{Name: "masked", Kind: BoolKind, Title: "reward is masked"},
	{Name: "usage.total", Kind: NumberKind, Title: "total tokens"},
	{Name: "row.response.usage.total_tokens", Kind: NumberKind, Title: "as in the file"},
	{Name: "größe", Kind: NumberKind, Title: "size"},
}

func parse(t *testing.T, s string) Filter {
	t.Helper()
	f, err := Parse(s, fields)
	check(t, s, err)
	return f
}
func check(t *testing.T, s string, e error) {
	t.Helper()
	if e != nil {
		t.Fatalf("%s: %v", s, e)
	}
}

func TestFields(t *testing.T) {
	if err := fields.Check(); err != nil {
		t.Error(err)
	}
	bad := Fields{{Name: "a b", Title: "t"}, {Name: "not", Title: "t"}, {Name: "any.x", Title: "t"}, {Name: "x", Aliases: []string{"x"}, Title: "t"}, {Name: "row", Title: "t"},
		{Name: "row.a[", Title: "t"}, {Name: `row["a"]`, Title: "t"}, {Name: "", Title: "t"}, {Name: "y"}, {Name: "z", Title: "t", Closed: true}, {Name: "1a", Title: "t"}}
	err := bad.Check()
	if err == nil {
		t.Fatal("nothing found")
	}
	if n := len(err.(interface{ Unwrap() []error }).Unwrap()); n != 11 {
		t.Errorf("%d mistakes: %v", n, err)
	}
}

func TestUsualForm(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{" \t\n\u00a0", ""},
		{"check:model_call_failed agent:opencode reward=0", "check:model_call_failed agent:opencode reward=0"},
		{"reward>0.5 latency>600 and turns in (1,2)", "reward>0.5 latency>600 turns in (1, 2)"},
		{"0 < reward <= 1", "0<reward<=1"},
		{"1>=reward>0", "1>=reward>0"},
		{`agent = "opencode"`, "agent:opencode"},
		{"agent=='opencode'", "agent:opencode"},
		{"agent=opencode", "agent:opencode"},
		{"agent : opencode", "agent:opencode"},
		{"agent:claude code:x", ""},
		{`agent:"claude code"`, `agent:"claude code"`},
		{"finding:agent_turn_hollow", "check:agent_turn_hollow"},
		{`check:"and"`, `check:"and"`},
		{"prompt>=1e3", "prompt_tokens>=1000"},
		{"reward=1.0", "reward=1"},
		{"reward=-0.0", "reward=0"},
		{"reward = 0.10", "reward=0.1"},
		{"reward=1e300", "reward=1e+300"},
		{"reward!=-1", "reward!=-1"},
		{"reward=9007199254740993", "reward=9007199254740993"},
		{"reward=123456789012345678901234567890", "reward=123456789012345678901234567890"},
		{"task:609", "task=609"},
		{`task:"609"`, `task:"609"`},
		{`task="609"`, `task:"609"`},
		{"task:01", "task:01"},
		{"task:880-6", "task:880-6"},
		{"task:true", "task=true"},
		{`task:"true"`, `task:"true"`},
		{"name:42", `name:"42"`},
		{"name:true", `name:"true"`},
		{"name:gpt-4o/mini@1.0:free", "name:gpt-4o/mini@1.0:free"},
		{"name:日本語", "name:日本語"},
		{`name:""`, `name:""`},
		{`name:"a\"b\\c\n\u0001\ud83d\ude00\u202e'"`, `name:"a\"b\\c\n\u0001😀\u202e'"`},
		{`name:'it\'s "it"'`, `name:"it's \"it\""`},
		{`name="<b>&"`, `name:"<b>&"`},
		{"masked", "masked=true"},
		{"not masked", "not masked=true"},
		{"NOT masked AND NOT has(reward)", "not masked=true not has(reward)"},
		{"not not masked", "not not masked=true"},
		{"masked=FALSE", "masked=false"},
		{"masked:false", "masked=false"},
		{"masked (reward=0 or turns>3)", "masked=true (reward=0 or turns>3)"},
		{"masked not agent:a", "masked=true not agent:a"},
		{"masked not in (true)", "masked not in (true)"},
		{"(reward=0)", "reward=0"},
		{"((reward=0 turns=1))", "reward=0 turns=1"},
		{"(reward=0 and turns=1) and masked", "reward=0 turns=1 masked=true"},
		{"reward=0 or turns=1 and masked", "reward=0 or turns=1 and masked=true"},
		{"(reward=0 or turns=1) and masked", "(reward=0 or turns=1) masked=true"},
		{"(reward=0 or turns=1) or masked", "reward=0 or turns=1 or masked=true"},
		{"not (reward=0 turns=1)", "not (reward=0 and turns=1)"},
		{"not (reward=0 or turns=1)", "not (reward=0 or turns=1)"},
		{"not reward=0 turns=1", "not reward=0 turns=1"},
		{"reward=0 reward=0", "reward=0"},
		{"has ( reward )", "has(reward)"},
		{"has(row.a)", "has(row.a)"},
		{"agent in (opencode, 'claude code', \"and\", 7)", `agent in (opencode, "claude code", "and", "7")`},
		{"turns not in (1, 2.5)", "turns not in (1, 2.5)"},
		{"task in (1, \"1\", 01, true)", `task in (1, "1", 01, true)`},
		{"turns in(1)", "turns in (1)"},
		{"name ~ bench", "name~bench"},
		{"name contains 'a b'", `name~"a b"`},
		{"name not contains x", "name!~x"},
		{"name !~ 12", `name!~"12"`},
		{"name ~ true", `name~"true"`},
		{"prompt > latency", "prompt_tokens>latency"},
		{"agent != name", "agent!=name"},
		{`agent = "name"`, "agent:name"},
		{`agent != "name"`, `agent!="name"`},
		{"'a' <= name < 'b'", `"a"<=name<"b"`},
		{"0=reward", "0=reward"},
		{"turns=1 and -1<reward", "turns=1 and -1<reward"},
		{"-1<reward turns=1", "-1<reward turns=1"},
		{"usage.total>5", "usage.total>5"},
		{"größe>5", "größe>5"},
		{"row.response.usage.total_tokens>5", "row.response.usage.total_tokens>5"},
		{"$.a.b[0] = 1", "row.a.b[0]=1"},
		{`row["odd key"].x[3]["a"]:y`, `row["odd key"].x[3].a:y`},
		{`$['it"s']`, `row["it\"s"]=true`},
		{"row[0]:x", "row[0]:x"},
		{"row.not.in.row = 1", "row.not.in.row=1"},
		{"row.a = row.b", "row.a=row.b"},
		{"row.a:1 row.b:'1'", `row.a=1 row.b:"1"`},
		{"row.a ~ x", "row.a~x"},
		{"row.a = 1 or row.a = 2", "row.a=1 or row.a=2"},
		{"reward = 1 = turns", "reward=1=turns"},
		{"0 < reward != turns < 5", "0<reward!=turns<5"},
		{"name:a:", "name:a:"},
		{"name:-", "name:-"},
		{"name:-1", `name:"-1"`},
		{"row.count > 1 row.any", "row.count>1 row.any=true"},
		{"any(calls, status >= 500)", "any(calls, status>=500)"},
		{"ANY ( calls , status >= 500 AND model:x )", "any(calls, status>=500 and model:x)"},
		{"any(calls, (status=1 or status=2) model=x)", "any(calls, (status=1 or status=2) and model:x)"},
		{"not all(turns, tools=0)", "not all(turns, tools=0)"},
		{`count(tool_calls, name == "bash") > 3`, "count(tool_calls, name:bash)>3"},
		{"3 < count(tool_calls) <= turns", "3<count(tool_calls)<=turns"},
		{"count(calls) in (1, 2)", "count(calls) in (1, 2)"},
		{"count(calls):1", "count(calls)=1"},
		{"count(calls) not in (0)", "count(calls) not in (0)"},
		{"count(calls, status=1) / count(calls) > 0.5", "count(calls, status=1) / count(calls) > 0.5"},
		{"any(row.response.output, item.type == 'function_call')", "any(row.response.output, item.type:function_call)"},
		{"any($.a, item = 1)", "any(row.a, item=1)"},
		{"any(row.a, item)", "any(row.a, item=true)"},
		{"any(row.a, any(item, item=1))", "any(row.a, any(item, item=1))"},
		{`any(row.a, item["odd key"][0] ~ x)`, `any(row.a, item["odd key"][0]~x)`},
		{"any(turns, count(item.answer, has(item.role))>2)", "any(turns, count(item.answer, has(item.role))>2)"},
		{"any(calls, status >= 500 any(item.request.input, item.role:user))", "any(calls, status>=500 and any(item.request.input, item.role:user))"},
		{"any(calls, prompt>2*completion)", "any(calls, prompt > 2 * completion)"},
		{"agent=item", "agent:item"},
		{"agent=item.x", "agent:item.x"},
		{`name matches "^a.*b$"`, `name matches "^a.*b$"`},
		{`name =~ "\\d+"`, `name matches "\\d+"`},
		{"name NOT matches abc", `name not matches "abc"`},
		{"turns + 1 > 2", "turns + 1 > 2"},
		{"turns+1>2", "turns + 1 > 2"},
		{"turns-1>2", "turns - 1 > 2"},
		{"turns -1>2", "turns - 1 > 2"},
		{"turns=1 -1<reward", "turns = 1 - 1 < reward"},
		{"turns = 5 - 3", "turns = 5 - 3"},
		{"turns - -3 > 1", "turns - -3 > 1"},
		{"turns*2>3", "turns * 2 > 3"},
		{"2*turns>3", "2 * turns > 3"},
		{"turns/prompt>3", "turns / prompt_tokens > 3"},
		{"prompt-latency>3", "prompt_tokens - latency > 3"},
		{"prompt+latency>3", "prompt_tokens + latency > 3"},
		{"usage.total*2>3", "usage.total * 2 > 3"},
		{"row.a-1>row.b/2", "row.a - 1 > row.b / 2"},
		{"(prompt + latency) / 2 > 5", "(prompt_tokens + latency) / 2 > 5"},
		{"((prompt + latency)) > 5", "prompt_tokens + latency > 5"},
		{"masked (prompt + latency) * 2 > 5", "masked=true (prompt_tokens + latency) * 2 > 5"},
		{"(masked) (0 < reward)", "masked=true 0<reward"},
		{"prompt - (latency - 1) > 5", "prompt_tokens - (latency - 1) > 5"},
		{"prompt - latency - 1 > 5", "prompt_tokens - latency - 1 > 5"},
		{"prompt * (latency / 2) > 5", "prompt_tokens * (latency / 2) > 5"},
		{"prompt + (latency * 2) > 5", "prompt_tokens + latency * 2 > 5"},
		{"-turns < -1", "-turns < -1"},
		{"- (turns + 1) < 1", "-(turns + 1) < 1"},
		{"--turns < 1", "--turns < 1"},
		{"-(5) < turns", "-5<turns"},
		{"- 5 < turns", "-5<turns"},
		{"masked and -turns < 1", "masked=true and -turns < 1"},
		{"not -turns < 1 or -turns > 5", "not -turns < 1 or -turns > 5"},
		{"reward=(1)", "reward=1"},
		{"reward in (1) (turns + 1) > 2", "reward in (1) turns + 1 > 2"},
		{"turns > (latency or masked)", ""},
		{"0 < turns + 1 <= latency * 2 < 9", "0 < turns + 1 <= latency * 2 < 9"},
		{`name = "(" (")" < name)`, `name:"(" ")"<name`},
		{strings.Repeat("(", MaxDepth) + "masked" + strings.Repeat(")", MaxDepth), "masked=true"},
	}
	for _, tt := range tests {
		f, err := Parse(tt.text, fields)
		if tt.want == "" && strings.TrimSpace(tt.text) != "" {
			if err == nil {
				t.Errorf("%s: read as %s", tt.text, f)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got := f.String(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.text, got, tt.want)
		}
		again, err := Parse(f.String(), fields)
		if err != nil || !again.Equal(f) || again.String() != f.String() {
			t.Errorf("%s: reads back as %s (%v)", f, again, err)
		}
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		text       string
		at, length int
		message    string // part of it
		suggestion string
	}{
		{"rewrd=0", 0, 5, `no field "rewrd"`, "reward"},
		{"Reward=0", 0, 6, "no field", "reward"},
		{"turns=1 latncy>3", 8, 6, "no field", "latency"},
		{"prompt-tokens>1", 0, 13, "no field", "prompt_tokens"},
		{"größer>1", 0, 8, "no field", "größe"},
		{"verd:healthy", 0, 4, "no field", "verdict"},
		{"xyzzy=0", 0, 5, "no field", ""},
		{"response.model=x", 0, 14, "no field", "row.response.model"},
		{"hsa(reward)", 0, 3, "no function", "has"},
		{"any(x)", 4, 1, "no list", ""},
		{"any(cals, status=1)", 4, 4, "no list", "calls"},
		{"any(calls)", 9, 1, "comma and a condition", ""},
		{"all(calls, )", 11, 1, `before ")"`, ""},
		{"any calls", 4, 5, "in parentheses", ""},
		{"any(calls, status>=500", 22, 0, "( at character 4 is not closed", ")"},
		{"any(calls, statsu>=500)", 11, 6, "calls have no field", "status"},
		{"any(calls, reward>0)", 11, 6, "is one of the row", ""},
		{"any(calls, status>reward)", 18, 6, "not a text", ""},
		{"any(calls, row.x=1)", 11, 5, "inside \"calls\"", ""},
		{"any(calls, $.x=1)", 11, 3, "inside \"calls\"", ""},
		{"any(calls, any(turns, no=1))", 15, 5, "begins with item", "item.turns"},
		{"any(calls, any(row.x, item=1))", 15, 5, "inside \"calls\"", ""},
		{"any(row.list, type:x)", 14, 4, "path from item", "item.type"},
		{"any(calls, model)", 11, 5, "needs a comparison", "has(model)"},
		{"any(calls, count(item.x))", 24, 0, "comparison must follow", " > 0"},
		{"any(check, item:x)", 4, 5, "no list", ""},
		{"any(5, item=1)", 4, 1, "is no list", ""},
		{"any()", 4, 1, "is no list", ""},
		{"any(", 4, 0, "list is missing", ""},
		{"any(calls, status=1) > 2", 21, 1, "cannot stand here", ""},
		{"reward = any(calls, status=1)", 9, 3, "a condition and no value", ""},
		{"has(count(calls))", 4, 5, "a field must stand here", ""},
		{"tool_calls>3", 0, 10, "is a list", "count(tool_calls)"},
		{"count(calls)", 12, 0, "comparison must follow", " > 0"},
		{"count(calls)=x", 13, 1, "is a number, not a text", ""},
		{"count(calls)~x", 13, 1, "contains no text", ""},
		{strings.Repeat("count(calls)+", MaxLists) + "count(calls)>1", 13 * MaxLists, 5, "at most 100 lists", ""},
		{"any(row.x," + strings.Repeat(" (any(item.x,", MaxDepth), 10 + 13*(MaxDepth/2-1) + 5, 1, "nested deeper", ""},
		{`name matches "a(b"`, 14, 3, "missing closing )", ""},
		{`name matches "xa**"`, 16, 2, "invalid nested repetition", ""},
		{`name matches "a\\Cb"`, 13, 7, "cannot be read", ""},
		{`name matches "(a{1000}){1000}"`, 23, 6, "cannot be read", ""},
		{`name matches "((a{100}){100}){100}"`, 29, 5, "cannot be read", ""},
		{`name matches "(\\pL{200}[a-z]{200}){4}(\\pL{200}[a-z]{200}){4}(\\pL{200}[a-z]{200}){4}(\\pL{200}[a-z]{200}){4}(\\pL{200}[a-z]{200}){4}"`, 13, 122, "too large", ""},
		{`name matches "` + strings.Repeat("a", MaxPattern+1) + `"`, 13, MaxPattern + 3, "at most", ""},
		{`reward matches "1"`, 15, 3, "no text to match", ""},
		{"name matches ^a", 13, 1, "no meaning", ""},
		{"name matches", 12, 0, "value is missing", ""},
		{"turns * name > 1", 8, 4, "only numbers can be calculated with", ""},
		{"name + 1 > 1", 0, 4, "only numbers can be calculated with", ""},
		{"name > turns + 1", 7, 5, "name is a text, a calculation is a number", ""},
		{"turns + trns > 1", 8, 4, "no field", "turns"},
		{"turns + 'a' > 1", 8, 3, "only numbers", ""},
		{"status + 1 > 1", 0, 6, "is a list", ""},
		{"masked + 1 > 1", 7, 1, "cannot stand here", ""},
		{"turns + > 1", 8, 1, "a value must stand here", ""},
		{"turns + 1", 9, 0, "comparison must follow", ""},
		{"turns - 1 and masked", 10, 3, "comparison must follow", ""},
		{"(turns + 1 > 2", 14, 0, "( at character 1", ")"},
		{"2 > (turns + 1", 14, 0, "( at character 5", ")"},
		{"1 + 1 > 2", 9, 0, "needs a field", ""},
		{"turns > 2/prompt", 8, 8, "neither a number", "2 / prompt"},
		{"turns > 3-1", 8, 3, "neither a number", "3 - 1"},
		{"-turns", 6, 0, "comparison must follow", ""},
		{"-5 masked", 0, 2, "a value alone", ""},
		{"- 5 masked", 4, 6, "comparison must follow", ""},
		{"0 * turns", 9, 0, "comparison must follow", ""},
		{"(turns) + 1", 11, 0, "comparison must follow", ""},
		{"-masked", 0, 1, "no meaning", "not "},
		{"turns × 2 > 4", 6, 2, "no meaning", "*"},
		{"turns=1" + strings.Repeat(" + 1", MaxSigns+1), 8 + 4*MaxSigns, 1, "more than 1000 signs", ""},
		{"turns=" + strings.Repeat("(", MaxDepth+1), 6 + MaxDepth, 1, "nested deeper", ""},
		{"turns=" + strings.Repeat("- ", MaxDepth+1) + "1", 6 + 2*MaxDepth, 1, "nested deeper", ""},
		{"masked(x)", 0, 6, "no function", ""},
		{"count>1", 5, 1, "in parentheses", ""},
		{"like>1", 0, 4, "kept for later", ""},
		{"row>1", 0, 3, "needs a key", ""},
		{"$>1", 0, 1, "needs a key", ""},
		{"row.>1", 3, 1, "key must follow", ""},
		{"row.a[x]", 5, 2, "brackets", ""},
		{"row.a[-1]", 5, 2, "brackets", ""},
		{"row.a[0", 5, 2, "brackets", ""},
		{"row.a['x", 6, 2, "not closed", `"x"`},
		{"row.a-b=1", 6, 1, "no field", ""},
		{"reward", 0, 6, "needs a comparison", "has(reward)"},
		{"prompt", 6, 0, "comparison must follow", ""},
		{"agent turns=1", 0, 5, "needs a comparison", "has(agent)"},
		{"agent and turns=1", 0, 5, "needs a comparison", "has(agent)"},
		{"reward=", 7, 0, "value is missing", ""},
		{"reward:", 7, 0, "value is missing", ""},
		{"reward=x", 7, 1, "reward is a number, not a text", ""},
		{"reward=latncy", 7, 6, "not a text", "latency"},
		{`reward="1"`, 7, 3, "not a text", ""},
		{"reward:x", 7, 1, "not a text", ""},
		{"reward=true", 7, 4, "not true or false", ""},
		{"reward:>5", 7, 1, "a value must stand here", ""},
		{"agent=5", 6, 1, "agent is a text, not a number", `"5"`},
		{"5=agent", 0, 1, "agent is a text, not a number", `"5"`},
		{"agent=true", 6, 4, "agent is a text", `"true"`},
		{"agent=reward", 6, 6, "agent is a text, reward is a number", ""},
		{"masked=1", 7, 1, "masked is true or false, not a number", ""},
		{"masked:flase", 7, 5, "masked is true or false", "false"},
		{"masked>false", 7, 5, "no order", ""},
		{"agent=open-code", 6, 9, "needs quotes", `"open-code"`},
		{"task=880-6", 5, 5, "needs quotes", `"880-6"`},
		{"agent=a:b", 6, 3, "needs quotes", `"a:b"`},
		{"reward>.5", 7, 2, "neither a number", "0.5"},
		{"reward>5.", 7, 2, "neither a number", "5"},
		{"reward>007", 7, 3, "neither a number", "7"},
		{"latency>10m", 8, 3, "neither a number", ""},
		{"reward=1e999", 7, 5, "out of range", ""},
		{"reward=" + strings.Repeat("9", 500), 7, 500, "out of range", ""},
		{"verdict:helthy", 8, 6, `verdict is never "helthy"`, "healthy"},
		{"verdict=helthy", 8, 6, "verdict is never", `"healthy"`},
		{"verdict in (healthy, x)", 21, 1, "verdict is never", ""},
		{"check:and", 6, 3, "needs quotes", `"and"`},
		{"agent=null", 6, 4, "not has(agent)", ""},
		{"agent:null", 6, 4, "not has(agent)", ""},
		{"agent in ()", 10, 1, "a value must stand here", ""},
		{"agent in (a b)", 12, 1, "comma or )", ""},
		{"agent in (a,", 12, 0, "value is missing", ""},
		{"agent in (a", 11, 0, "not closed", ")"},
		{"agent in a", 9, 1, "parentheses must follow in", ""},
		{"check:a,b", 6, 1, "check is never", ""},
		{"agent:a,b", 7, 1, "several values", ""},
		{"reward=(1, 2)", 9, 1, "several follow", ""},
		{"reward=()", 8, 1, "a value must stand here", ""},
		{"reward ~ 1", 9, 1, "contains no text", ""},
		{"name ~", 6, 0, "value is missing", ""},
		{"(reward=0", 9, 0, "( at character 1 is not closed", ")"},
		{"reward=0)", 8, 1, "no ( before", ""},
		{"()", 1, 1, `before ")"`, ""},
		{"reward=0 and", 12, 0, "condition is missing", ""},
		{"not", 3, 0, "condition is missing", ""},
		{"and reward=0", 0, 3, "before \"and\"", ""},
		{"reward=0 or or turns=1", 12, 2, "before \"or\"", ""},
		{"reward=0 && turns=1", 9, 2, "no meaning", "and"},
		{"reward=0 || turns=1", 9, 2, "no meaning", "or"},
		{"!masked", 0, 1, "no meaning", "not "},
		{"-agent:x", 0, 1, "no meaning", "not "},
		{"reward≤1", 6, 3, "no meaning", "<="},
		{"agent:a -1<reward", 8, 2, "a sign behind a condition", "and -1"},
		{"masked -1<reward", 7, 2, "a sign behind a condition", "and -1"},
		{"has(reward) - turns < 1", 12, 1, "a sign behind a condition", "and -"},
		{`"x"`, 0, 3, "a value alone", ""},
		{"5", 0, 1, "a value alone", ""},
		{"1 < 2", 5, 0, "needs a field", ""},
		{"reward=1 5", 9, 1, "a value alone", ""},
		{"has reward", 4, 6, "has asks", ""},
		{"has(5)", 4, 1, "no field", ""},
		{"has(rewrd)", 4, 5, "no field", "reward"},
		{"has()", 4, 1, "no field", ""},
		{"has(reward", 10, 0, "a ) must follow", ""},
		{`name="abc`, 5, 4, "not closed", `"abc"`},
		{`name="a\qb"`, 7, 2, "no such escape", `\\q`},
		{`name="\ud800"`, 6, 2, "no such escape", `\\u`},
		{"name:\xff", 5, 1, "not UTF-8", ""},
		{"name:a\x00b", 6, 1, "no meaning", ""},
		{"= 5", 0, 1, "before \"=\"", ""},
		{"reward in (x)", 11, 1, "not a text", ""},
		{"name:a*", 6, 1, "cannot stand here", ""},
		{strings.Repeat("(", MaxDepth+1), MaxDepth, 1, "nested deeper", ""},
		{strings.Repeat("not ", MaxDepth+1), 4 * MaxDepth, 3, "nested deeper", ""},
		{strings.Repeat(" ", MaxLength+1), 0, 0, "longer than", ""},
	}
	for _, tt := range tests {
		_, err := Parse(tt.text, fields)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%.80s: no error", tt.text)
			continue
		}
		if e.Offset != tt.at || e.Length != tt.length || e.Suggestion != tt.suggestion || !strings.Contains(e.Message, tt.message) {
			t.Errorf("%.80s: %d+%d %s (suggestion %q)", tt.text, e.Offset, e.Length, e.Message, e.Suggestion)
		}
		if e.Suggestion == "" {
			continue
		}
		// A suggestion must lead further than the mistake.
		var second *Error
		if _, err := Parse(e.Fixed(), fields); errors.As(err, &second) && second.Offset <= e.Offset && second.Message == e.Message {
			t.Errorf("%.80s: suggestion %q changes nothing", tt.text, e.Suggestion)
		}
	}
}

func TestErrorText(t *testing.T) {
	_, err := Parse("größe=1 rewrd=0", fields)
	if got, want := err.Error(), `filter, character 9: there is no field "rewrd"; did you mean reward?`; got != want {
		t.Errorf("%s", got)
	}
	var e *Error
	errors.As(err, &e)
	if got, want := e.Mark(), "größe=1 rewrd=0\n        ^^^^^"; got != want {
		t.Errorf("got\n%s", got)
	}
	if got := e.Fixed(); got != "größe=1 reward=0" {
		t.Errorf("fixed: %s", got)
	}
	_, err = Parse(strings.Repeat("masked ", 50)+"!"+strings.Repeat(" masked", 50), fields)
	errors.As(err, &e)
	if line, mark, _ := strings.Cut(e.Mark(), "\n"); len(line) > 2*markRoom+1 || line[len(mark)-1] != '!' {
		t.Errorf("got\n%s\n%s", line, mark)
	}
	_, err = Parse(strings.Repeat("x", 500), fields)
	if got := err.Error(); len(got) > 100 {
		t.Errorf("%s", got)
	}
	_, err = Parse("a\tb", fields)
	errors.As(err, &e)
	if got := e.Mark(); got != "a·b\n^" {
		t.Errorf("got\n%s", got)
	}
}

func TestChips(t *testing.T) {
	f := parse(t, "check:model_call_failed and 0<reward<=1 (masked or turns>3) agent in (a,b) name~x has(latency)")
	var texts, labels []string
	for _, c := range f.Chips() {
		texts, labels = append(texts, c.Text), append(labels, c.Label)
		if g := parse(t, c.Text); g.String() != c.Text {
			t.Errorf("%s: %s", c.Text, g)
		}
	}
	if want := []string{"check:model_call_failed", "0<reward<=1", "masked=true or turns>3", "agent in (a, b)", "name~x", "has(latency)"}; !slices.Equal(texts, want) {
		t.Errorf("%q", texts)
	}
	if want := []string{"check: model_call_failed", "0 < reward <= 1", "masked = true or turns > 3", "agent in (a, b)", "name ~ x", "has(latency)"}; !slices.Equal(labels, want) {
		t.Errorf("%q", labels)
	}
	if got := f.Without(2).Without(0).String(); got != "0<reward<=1 agent in (a, b) name~x has(latency)" {
		t.Error(got)
	}
	if !f.Without(-1).Equal(f) || !f.Without(6).Equal(f) {
		t.Error("nothing must be removed")
	}
	g := Filter{}
	for _, c := range f.Chips() {
		g = g.With(parse(t, c.Text))
	}
	if !g.Equal(f) || g.String() != f.String() || !g.With(f).Equal(f) {
		t.Errorf("from chips: %s", g)
	}
	one := parse(t, "masked or turns>3")
	if len(one.Chips()) != 1 || one.String() != "masked=true or turns>3" || one.With(parse(t, "reward=0")).String() != "(masked=true or turns>3) reward=0" {
		t.Errorf("%s", one)
	}
	if got := one.With(parse(t, "reward=0")).Without(1); !got.Equal(one) || got.String() != one.String() {
		t.Errorf("%s", got)
	}
	if !(Filter{}).Empty() || f.Empty() || len((Filter{}).Chips()) != 0 || (Filter{}).String() != "" {
		t.Error("the zero filter is not empty")
	}
	if !f.Without(0).Match(testRow{}) == f.Match(testRow{}) && f.Chips()[0].Text == "" {
		t.Error("chips changed")
	}
}

func TestRefs(t *testing.T) {
	f := parse(t, "prompt>latency (has(row.a[0]) or not agent:x) $.a[0]=1 prompt_tokens in (1) name~y 0<reward<1")
	var names []string
	for _, r := range f.Refs() {
		names = append(names, r.Name)
		if (r.Path != nil) != strings.HasPrefix(r.Name, "row") {
			t.Errorf("%s: path %v", r.Name, r.Path)
		}
	}
	if want := []string{"prompt_tokens", "latency", "row.a[0]", "agent", "name", "reward"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	if (Filter{}).Refs() == nil {
		t.Error("nil")
	}
}

func TestMarks(t *testing.T) {
	tests := []struct{ got, want string }{
		{Equal("agent", Text("opencode")), "agent:opencode"},
		{Equal("agent", Text("a b")), `agent:"a b"`},
		{Equal("agent", Text("")), `agent:""`},
		{Equal("reward", Int(0)), "reward=0"},
		{Equal("reward", Float(0.1)), "reward=0.1"},
		{Equal("masked", Bool(true)), "masked=true"},
		{Equal("reward", Value{}), "not has(reward)"},
		{Equal("task", Text("1")), `task:"1"`},
		{Between("latency", Int(0), Int(130), false), "0<=latency<130"},
		{Between("latency", Float(1.5), Int(130), true), "1.5<=latency<=130"},
		{Between("latency", Value{}, Int(130), false), "latency<130"},
		{Between("latency", Int(5), Value{}, false), "latency>=5"},
		{Between("latency", Value{}, Value{}, false), "has(latency)"},
		{Between("latency", Int(-1), Int(0), false), "-1<=latency<0"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s, want %s", tt.got, tt.want)
		}
		if f := parse(t, tt.got); f.String() != tt.got {
			t.Errorf("%s reads back as %s", tt.got, f)
		}
	}
}

func TestComplete(t *testing.T) {
	tests := []struct {
		text string // "|" is the cursor
		from int
		want string // the first items, with " …" if there are more
	}{
		{"|", 0, "task name check agent verdict reward latency turns status prompt_tokens masked usage.total row.response.usage.total_tokens größe not  has( any( all( count("},
		{"re|", 0, "reward row.response.usage.total_tokens"},
		{"rew| turns=1", 0, "reward"},
		{"turns=1 la|", 8, "latency"},
		{"turns=1 a|", 8, "agent and  any( all( task name reward latency status masked …"},
		{"turns=1 and la|", 12, "latency"},
		{"turns=1 o|", 8, "or  prompt_tokens usage.total row.response.usage.total_tokens not  count("},
		{"(la|", 1, "latency"},
		{"not la|", 4, "latency"},
		{"has(la|", 4, "latency"},
		{"has(|)", 4, "task name …"},
		{"row.resp|", 0, "row.response.usage.total_tokens"},
		{"row.|", 0, "row.response.usage.total_tokens"},
		{"check:|", 6, `model_call_failed agent_turn_hollow "and"`},
		{"check:mod|", 6, "model_call_failed"},
		{"check:hollow|", 6, "agent_turn_hollow"},
		{"agent:cl|", 6, `"claude code" openclaw`},
		{`agent:"cl|`, 6, `"claude code" "openclaw"`},
		{"agent=op|", 6, `"opencode" "openclaw"`},
		{"agent in (opencode, o|", 20, `opencode openclaw "claude code"`},
		{"masked=|", 7, "true false task"},
		{"masked:f|", 7, "false"},
		{"reward > |", 9, "task latency turns status …"},
		{"reward |", 7, "= != < <= > >=  in (  not in ( and  or "},
		{"agent |", 6, ": != ~ !~  matches   not matches   in (  not in ( and  or "},
		{"agent n|", 6, " not matches   not in (  in ( and "},
		{"any(|", 4, "calls turns tool_calls messages row."},
		{"count(tool|", 6, "tool_calls"},
		{"any(calls, sta|", 11, "status started"},
		{"any(calls, status |", 18, "= != < …"},
		{"any(calls, status > pr|", 20, "prompt"},
		{"any(calls, status=1 a|", 20, "and  any( all( …"},
		{"any(messages, role:a|", 19, "assistant"},
		{"any(row.x, |", 11, "item not  has( any( all( count("},
		{"any(row.x, any(|", 15, "item."},
		{"any(calls, status=1) r|", 21, "reward row.response.usage.total_tokens …"},
		{"count(calls) |", 13, "= != < <= > >=  in (  not in ( and  or "},
		{"turns + |", 8, "task reward latency turns …"},
		{"turns - 1 |", 10, "…"},
		{"rewrd=|", 6, ""},
		{"reward=0 && |", 12, ""},
		{"reward=0) |", 10, ""},
		{`name="a" |`, 9, "task name check …"},
		{"\xff|", 1, ""},
	}
	for _, tt := range tests {
		cursor := strings.Index(tt.text, "|")
		c := Complete(strings.Replace(tt.text, "|", "", 1), cursor, fields)
		var got []string
		for _, it := range c.Items {
			got = append(got, it.Insert)
		}
		line := strings.Join(got, " ")
		want, more := strings.CutSuffix(tt.want, "…")
		if c.To != cursor || c.From != tt.from || c.Items == nil || line != want && !(more && strings.HasPrefix(line, want)) {
			t.Errorf("%s: from %d: %s", tt.text, c.From, line)
		}
	}
	if c := Complete("re", 99, fields); c.To != 2 || len(c.Items) == 0 {
		t.Errorf("cursor behind the end: %+v", c)
	}
	many := Fields{{Name: "x", Title: "t", Kind: TextKind, Values: func() []string {
		var list []string
		for i := range 1000 {
			list = append(list, fmt.Sprint("v", i))
		}
		return list
	}}}
	if c := Complete("x:", 2, many); len(c.Items) != mostItems {
		t.Errorf("%d items", len(c.Items))
	}
}
