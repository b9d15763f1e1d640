package filter

import (
	"math"
	"strings"
	"testing"

	"github.com/rollscope/rollscope/core/jsonscan"
	"github.com/rollscope/rollscope/core/rollout"
)

// testRow has some fields and the text of a row.
type testRow struct {
	fields map[string]Value
	row    jsonscan.Value
}

func (r testRow) Field(name string) Value { return r.fields[name] }
func (r testRow) Inside(ref *Ref) Value {
	var l Look
	l.At(&rollout.Row{Value: r.row, Trajectory: r.row.Get("ng_trajectory"), Response: r.row.Get("response"), Params: r.row.Get("responses_create_params")})
	return l.Inside(ref)
}

func TestMatch(t *testing.T) {
	const line = `{"a":{"b":[10,"x",{"c":null}],"odd key":true},"n":9007199254740993,"f":1.5,"big":100000000000000000001,"s":"abc","e":[],"list":["p","q"],"nums":[1,2.0,"3",null],"neg":-0.0,"t":true,"null":null,"obj":{},"dup":1,"dup":2,"deep":[[1]]}`
	var s jsonscan.Scanner
	row, err := s.Scan([]byte(line))
	check(t, line, err)
	r := testRow{row: row, fields: map[string]Value{
		"task": Int(609), "name": Text("bench-apt-pin"), "agent": Text("opencode"), "check": Texts("model_call_failed", "and"), "reward": Float(0.5),
		"turns": Int(11), "masked": Bool(false), "status": List(Int(429), Int(500)), "verdict": Text("unhealthy"), "prompt_tokens": Int(97981),
	}}
	tests := []struct {
		text string
		want bool
	}{
		{"", true},
		{"check:model_call_failed agent:opencode reward=0.5", true},
		{"check:agent_turn_hollow", false},
		{"check!=agent_turn_hollow", true},
		{"check!=model_call_failed", false},
		{"check in (agent_turn_hollow, model_call_failed)", true},
		{"check not in (agent_turn_hollow)", true},
		{"check not in (model_call_failed)", false},
		{"check ~ call", true},
		{"check !~ call", false},
		{"status>=500", true},
		{"status<429", false},
		{"status=429 status=500", true},
		{"429<status<500", true}, // one element meets each comparison, not the same one
		{"reward=0.50", true},
		{"0<reward<=1", true},
		{"0<reward<0.5", false},
		{"0 < reward < turns", true},
		{"task=609", true},
		{`task="609"`, false},
		{`task!="609"`, true},
		{"task:609.0", true},
		{"task>608.99", true},
		{"task<abc", false},
		{"task ~ 60", false},
		{"agent=name", false},
		{"agent<=opencode", true},
		{"agent>OPENCODE", true},
		{"agent:Opencode", false},
		{"name~apt", true},
		{"name~Apt", false},
		{"name!~zzz", true},
		{`name~""`, true},
		{"masked", false},
		{"not masked", true},
		{"masked=false", true},
		{"turns in (1, 11)", true},
		{"turns in (11.0)", true},
		{"turns not in (1, 2)", true},
		{"prompt>97980", true},
		// missing values
		{"latency>0", false},
		{"latency<=0", false},
		{"latency!=0", false},
		{"latency=latency", false},
		{"latency in (1)", false},
		{"latency not in (1)", false},
		{"not latency>0", true},
		{"not latency in (1)", true},
		{"has(latency)", false},
		{"not has(latency)", true},
		{"has(reward)", true},
		{"has(check)", true},
		{"latency>0 or reward>0", true},
		// paths
		{"row.a.b[0]=10", true},
		{"$.a.b[0]=10", true},
		{"row.a.b[1]:x", true},
		{"has(row.a.b[2])", true},
		{"has(row.a.b[2].c)", false},
		{"has(row.a.b[3])", false},
		{"row.a.b:10", true},
		{"row.a.b:x", true},
		{`row.a["odd key"]`, true},
		{"row.n=9007199254740993", true},
		{"row.n=9007199254740992", false},
		{"row.n>9007199254740992.0", true},
		{"row.n!=9007199254740992e0", true},
		{"row.big=100000000000000000001", true},
		{"row.big=100000000000000000000", false},
		{"row.big>1e20", true},
		{"row.big in (100000000000000000001)", true},
		{"row.f=1.5 1<row.f<2", true},
		{"row.s:abc", true},
		{"row.s~b", true},
		{"row.e=1", false},
		{"row.e!=1", true},
		{"has(row.e)", false},
		{"row.list:q", true},
		{"row.list in (z, p)", true},
		{"row.nums=2", true},
		{"row.nums=3", false},
		{`row.nums="3"`, true},
		{"row.neg=0", true},
		{"row.neg in (0)", true},
		{"row.t", true},
		{"row.t=1", false},
		{"row.s", false},
		{"has(row.null)", false},
		{"row.null=0", false},
		{"has(row.obj)", true},
		{"row.obj=0", false},
		{"row.obj!=0", true},
		{"row.dup=2", true},
		{"row.A.b[0]=10", false},
		{"row.s.x=1", false},
		{"row.list.p=1", false},
		{"row.a[0]=1", false},
		{"row.list = row.list", true},
		{"row.list != row.nums", true},
		{"row.deep=1", false},
		{"row.deep[0]=1", true},
	}
	for _, tt := range tests {
		f := parse(t, tt.text)
		if got := f.Match(r); got != tt.want {
			t.Errorf("%s: %t", tt.text, got)
		}
		if got := parse(t, f.String()).Match(r); got != tt.want {
			t.Errorf("%s: %t", f, got)
		}
	}
}

func TestNumbers(t *testing.T) {
	// In order; equal ones in one group.
	groups := [][]Value{
		{Float(math.Inf(-1))},
		{Number("-1e308")},
		{Number("-9223372036854775809")},
		{Int(-1 << 63), Float(-1 << 63)},
		{Float(-0.5)},
		{Int(0), Float(0), Number("-0"), Number("-0.0"), Number("1e-400")},
		{Float(0.1)},
		{Int(1), Float(1), Number("1.0"), Number("10e-1")},
		{Number("9007199254740992"), Float(1 << 53)},
		{Number("9007199254740993")},
		{Int(1<<63 - 1)},
		{Number("9223372036854775808"), Float(1 << 63)},
		{Number("18446744073709551616"), Float(1 << 64)},
		{Number("18446744073709551617")},
		{Number("1" + strings.Repeat("0", 22)), Float(1e22)},
	}
	for i, g := range groups {
		for j, h := range groups {
			for _, a := range g {
				for _, b := range h {
					c, ok := a.order(b)
					if !ok || (c < 0) != (i < j) || (c > 0) != (i > j) {
						t.Errorf("%v against %v: %d", a, b, c)
					}
					if same := string(numberKey(nil, a)) == string(numberKey(nil, b)); same != (i == j) {
						t.Errorf("%v and %v: same key %t", a, b, same)
					}
				}
			}
		}
	}
	for _, s := range []string{"", "-", "01", "+1", ".5", "1.", "1e", "1e+", "0x1", "NaN", "Infinity", "1 ", "1e999", "-1e999"} {
		if v := Number(s); !v.IsMissing() {
			t.Errorf("%q: %v", s, v)
		}
	}
}
