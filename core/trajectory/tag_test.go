package trajectory

import (
	"fmt"
	"strings"
	"testing"
)

// kindName gives the kind that is chosen for an item, or the class of its error.
func kindName(t *testing.T, text string) string {
	t.Helper()
	var r Reader
	kind := r.kindOf(scan(t, text))
	if kind == nil {
		return r.fault.class
	}
	return strings.ReplaceAll(kind.name, " ", "_")
}

func TestKindOf(t *testing.T) {
	const (
		part    = `[{"type":"output_text","text":"a","annotations":[]}]`
		input   = `[{"type":"input_text","text":"a"}]`
		typeErr = ClassType
		invalid = ClassValidation
	)
	tests := []struct{ text, want string }{
		// A type that is a string names the kind.
		{`{"type":"function_call"}`, "function_call"},
		{`{"type":"fu\u006ection_call","role":[]}`, "function_call"},
		{`{"type":"additional_tools"}`, "additional_tools"},
		{`{"type":"easy_message"}`, invalid}, {`{"type":"easy message"}`, invalid}, {`{"type":"input_message"}`, invalid}, {`{"type":"output_message"}`, invalid},
		{`{"type":"bogus"}`, invalid}, {`{"type":""}`, invalid}, {`{"type":"item_reference"}`, invalid}, {`{"type":"reasoning__training"}`, invalid},
		{`{"type":"Message","role":"user","content":"x"}`, invalid},
		{`{"type":5,"role":[]}`, invalid}, {`{"type":"bogus","role":[]}`, invalid}, {`{"type":true}`, invalid}, {`{"type":[]}`, invalid}, {`{"type":{}}`, invalid},

		// Messages of people.
		{`{"type":"message","role":"user","content":"x"}`, "easy_message"},
		{`{"type":"message","role":"user","content":` + input + `}`, "easy_message"},
		{`{"type":"message","role":"user","content":` + input + `,"status":"completed"}`, "input_message"},
		{`{"type":"message","role":"system","content":[],"status":"in_progress"}`, "input_message"},
		{`{"type":"message","role":"developer","content":[],"status":"incomplete"}`, "input_message"},
		{`{"type":"message","role":"dev\u0065loper","content":[],"status":"incompl\u0065te"}`, "input_message"},
		{`{"type":"message","role":"user","content":[],"status":"failed"}`, "easy_message"},
		{`{"type":"message","role":"user","content":[],"status":null}`, "easy_message"},
		{`{"type":"message","role":"user","content":[],"status":5}`, "easy_message"},
		{`{"type":"message","role":"user","content":"x","status":"completed"}`, "easy_message"},
		{`{"type":"message","role":"user","content":` + part + `}`, "easy_message"},
		{`{"type":"message","role":"user"}`, "easy_message"},

		// Messages of everybody else.
		{`{"type":"message","role":"assistant","content":` + part + `}`, "output_message"},
		{`{"type":"message","role":"assistant","content":[{"type":"refusal"}]}`, "output_message"},
		{`{"type":"message","content":[{"refusal":null}]}`, "output_message"},
		{`{"type":"message","content":[{"type":"","refusal":0}]}`, "output_message"},
		{`{"type":"message","content":[{"type":[],"refusal":0}]}`, "output_message"},
		{`{"type":"message","content":[{"type":[ ]}]}`, "easy_message"},
		{`{"type":"message","content":[{"type":0}]}`, "easy_message"},
		{`{"type":"message","content":[{"type":7,"refusal":0}]}`, "easy_message"},
		{`{"type":"message","content":[{"type":"text","refusal":0}]}`, "easy_message"},
		{`{"type":"message","content":[5,{"type":"output_text"}]}`, "easy_message"},
		{`{"type":"message","content":[],"id":"i"}`, "output_message"},
		{`{"type":"message","content":[],"id":5}`, "easy_message"},
		{`{"type":"message","content":[]}`, "easy_message"},
		{`{"type":"message","role":null,"content":` + part + `}`, "output_message"},
		{`{"type":"message","role":7,"content":` + part + `}`, "output_message"},
		{`{"type":"message","role":"tool","content":"x"}`, "easy_message"},
		{`{"type":"message"}`, "easy_message"},

		// Without a type: messages.
		{`{"role":"user","content":"x"}`, "easy_message"},
		{`{"role":"user","content":[]}`, "easy_message"},
		{`{"role":"user","content":[],"status":"completed"}`, "input_message"},
		{`{"role":"user","content":` + part + `}`, "mcp_list_tools"},
		{`{"role":"user","content":` + part + `,"status":"completed"}`, "mcp_list_tools"},
		{`{"role":"user","content":[{"refusal":1}]}`, "mcp_list_tools"},
		{`{"role":"assistant","content":"x"}`, "easy_message"},
		{`{"role":"assistant","content":[]}`, "easy_message"},
		{`{"role":"assistant","content":[],"id":"i"}`, "output_message"},
		{`{"role":"assistant","content":` + input + `}`, "easy_message"},
		{`{"role":"assistant","content":` + part + `}`, "mcp_list_tools"},
		{`{"role":"assistant","content":` + part + `,"id":5}`, "mcp_list_tools"},
		{`{"role":"assistant","content":` + part + `,"id":"i"}`, "output_message"},
		{`{"role":"tool","content":"x"}`, "mcp_list_tools"},
		{`{"role":"user","content":null,"id":"i","summary":[]}`, "reasoning"},
		{`{"role":"user","content":{},"arguments":0,"name":0}`, "mcp_call"},
		{`{"id":"i","content":[]}`, "output_message"},
		{`{"id":"i","content":` + part + `}`, "output_message"},
		{`{"id":"i","content":` + input + `}`, "mcp_list_tools"},
		{`{"id":5,"content":` + part + `}`, "mcp_list_tools"},
		{`{"id":"i","role":null,"content":` + part + `}`, "mcp_list_tools"},
		{`{"id":"i","content":"x"}`, "mcp_list_tools"},

		// Without a type: the rest, in this order.
		{`{"arguments":null,"name":null,"call_id":null}`, "function_call"},
		{`{"arguments":"","name":""}`, "mcp_call"},
		{`{"arguments":"","call_id":"c"}`, "mcp_list_tools"},
		{`{"name":"","call_id":"c","output":null}`, "function_call_output"},
		{`{"call_id":5,"output":""}`, "mcp_list_tools"},
		{`{"id":"i","summary":[]}`, "reasoning"},
		{`{"id":"i","summary":"x"}`, "mcp_list_tools"},
		{`{"id":5,"summary":[]}`, "mcp_list_tools"},
		{`{"id":"i","summary":[],"content":[]}`, "output_message"},
		{`{"id":"i","summary":[],"call_id":"c","output":0}`, "function_call_output"},
		{`{"arguments":"","name":"","call_id":"c","output":0}`, "function_call"},
		{`{}`, "mcp_list_tools"}, {`{"foo":1}`, "mcp_list_tools"},
		{`{"type":null}`, "mcp_list_tools"}, {`{"type":null,"role":"user","content":"x"}`, "easy_message"},

		// What cannot be looked up.
		{`{"role":[]}`, typeErr}, {`{"role":{}}`, typeErr}, {`{"type":null,"role":{}}`, typeErr}, {`{"type":"message","role":[1]}`, typeErr},
		{`{"role":[],"id":"i","summary":[]}`, typeErr},
		{`{"role":"user","role":[]}`, typeErr}, {`{"role":[],"role":"user"}`, "mcp_list_tools"},
		{`{"type":"message","role":"user","status":{},"content":[]}`, typeErr},
		{`{"role":"developer","status":[],"content":[]}`, typeErr},
		{`{"type":"message","role":"user","status":{},"content":"x"}`, "easy_message"},
		{`{"type":"message","role":"user","status":{}}`, "easy_message"},
		{`{"type":"message","role":"assistant","status":{},"content":[]}`, "easy_message"},
		{`{"role":"assistant","status":{},"content":[]}`, "easy_message"},
		{`{"status":{},"content":[]}`, "mcp_list_tools"},
		{`{"type":"message","content":[{"type":["x"]}]}`, typeErr},
		{`{"type":"message","content":[{"type":{"a":1}}]}`, typeErr},
		{`{"type":"message","role":"assistant","content":[{"type":["x"],"refusal":1}]}`, typeErr},
		{`{"type":"message","role":"user","content":[{"type":["x"]}]}`, "easy_message"},
		{`{"type":"message","role":"user","status":"completed","content":[{"type":["x"]}]}`, "input_message"},
		{`{"role":"user","content":[{"type":["x"]}]}`, typeErr},
		{`{"role":"user","status":"completed","content":[{"type":["x"]}]}`, typeErr},
		{`{"role":"assistant","content":[{"type":["x"]}]}`, typeErr},
		{`{"role":"assistant","content":[{"type":{}}]}`, "easy_message"},
		{`{"id":"i","content":[{"type":["x"]}]}`, typeErr},
		{`{"id":5,"content":[{"type":["x"]}]}`, "mcp_list_tools"},
		{`{"role":null,"id":"i","content":[{"type":["x"]}]}`, "mcp_list_tools"},
		{`{"role":"tool","id":"i","content":[{"type":["x"]}]}`, "mcp_list_tools"},
		{`{"role":"user","content":[[{"type":["x"]}]]}`, "easy_message"},

		// The token fields come before all that.
		{`{"role":[],"prompt_token_ids":[1]}`, invalid},
		{`{"role":[],"prompt_token_ids":[1],"generation_token_ids":[1],"generation_log_probs":["x"]}`, invalid},
		{`{"role":[],"prompt_token_ids":[1],"generation_token_ids":[1],"generation_log_probs":[1],"routed_experts":5}`, invalid},
		{`{"role":[],"prompt_token_ids":[1],"generation_token_ids":[1],"generation_log_probs":[1]}`, typeErr},

		{`5`, invalid}, {`[]`, invalid}, {`null`, invalid}, {`"message"`, invalid},
	}
	for _, tt := range tests {
		if got := kindName(t, tt.text); got != tt.want {
			t.Errorf("%s is %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestItems holds whole items: what is chosen must also be kept.
func TestItems(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":null,"foo":1}`:                                                  ClassValidation,
		`{"type":null,"role":"user","content":"x"}`:                              ClassValidation,
		`{"type":null,"id":"i","summary":[]}`:                                    ClassValidation,
		`{"foo":1}`:                                                              "",
		`{"tools":5}`:                                                            ClassValidation,
		`{"type":"message","role":"user"}`:                                       ClassValidation,
		`{"type":"message","content":"x"}`:                                       ClassValidation,
		`{"type":"message","role":"tool","content":""}`:                          ClassValidation,
		`{"type":"message","id":"i","content":[{"refusal":"x"}]}`:                "",
		`{"type":"message","id":"i","role":"user2","content":[{"refusal":"x"}]}`: ClassValidation,
		`{"type":"message","content":[{"refusal":"x"}]}`:                         ClassValidation,
		`{"role":"assistant","content":[{"type":"output_text","text":"a","annotations":[]}]}`:                     "",
		`{"role":"assistant","content":[{"type":"output_text"}],"tools":5}`:                                       ClassValidation,
		`{"type":"message","role":"user","status":{},"content":"x"}`:                                              "",
		`{"type":"message","role":"user","content":[{"type":"output_text","text":"a","annotations":[]}]}`:         ClassValidation,
		`{"type":"message","role":"assistant","id":"i","content":[{"text":"a","annotations":[]}]}`:                ClassValidation,
		`{"type":"message","role":"assistant","id":"i","content":[{"refusal":""},{"text":"a","annotations":[]}]}`: "",
		`{"arguments":"","name":"","call_id":null}`:                                                               ClassValidation,
		`{"arguments":"","name":"","call_id":"c","unknown":{}}`:                                                   "",
		`{"type":"message","role":"user","content":"x","type":"mcp_list_tools"}`:                                  "",
		`{"role":[]}`: ClassType,
	} {
		expect(t, want, fmt.Sprintf(inItems, text))
	}
}

// TestPrecedence holds the classes against each other: an item that raises wins over every violation, and a
// violation over what is nested too deep.
func TestPrecedence(t *testing.T) {
	const raising = `{"role":[]}`
	deep := nested(256)
	for _, tt := range []struct{ want, text string }{
		{ClassType, fmt.Sprintf(inItems, raising)},
		{ClassType, fmt.Sprintf(inItems, `5,{"type":"bogus"},`+raising)},
		{ClassType, fmt.Sprintf(inItems, `{"role":[],"routed_experts":null},`+raising)},
		{ClassValidation, fmt.Sprintf(inItems, `{"role":[],"routed_experts":null}`)},
		{ClassType, `{"x":1,"invocations":[{"conversation":[` + raising + `]}]}`},
		{ClassType, `{"invocations":[5,{"invocation_id":5,"y":1,"conversation":[` + raising + `]}],"turns":5}`},
		{ClassType, `{"turns":[{"answer":` + deep + `}],"invocations":[{"invocation_id":"a","conversation":5},{"conversation":[[],` + raising + `]}]}`},
		{ClassType, `{"task_id":"t","rollout_id":"r","invocations":[{"invocation_id":"a","conversation":[{"x":` + deep + `},` + raising + `]}]}`},
		{ClassType, `{"task_id":"t","rollout_id":"r","invocations":[{"invocation_id":"a","conversation":[]},{"invocation_id":"a","conversation":[` + raising + `]}]}`},

		// No item is reached where there is none.
		{ClassValidation, `[{"invocations":[{"conversation":[` + raising + `]}]}]`},
		{ClassValidation, `{"invocations":{"0":{"conversation":[` + raising + `]}}}`},
		{ClassValidation, `{"invocations":[[{"conversation":[` + raising + `]}]]}`},
		{ClassValidation, `{"invocations":[{"conversation":{"0":` + raising + `}}]}`},
		{ClassValidation, `{"invocations":[{"conversation":[[` + raising + `]]}]}`},
		{ClassValidation, `{"invocations":[{"conversation":[` + raising + `],"conversation":[]}]}`},
		{ClassValidation, `{"invocations":[{"conversation":[` + raising + `]}],"invocations":5}`},
		{"", `{"task_id":"t","rollout_id":"r","invocations":[{"invocation_id":"a","conversation":[` + raising + `],"conv\u0065rsation":[]}]}`},
		{"", `{"task_id":"t","rollout_id":"r","turns":[],"model_calls":[{"request":{"conversation":[` + raising + `]}}]}`},

		{ClassValue, fmt.Sprintf(inTurns, plainTurn+`,"answer":`+deep+`}`)},
		{ClassValidation, fmt.Sprintf(inTurns, plainTurn+`,"answer":`+deep+`,"x":1}`)},
		{ClassValidation, fmt.Sprintf(inTurns, plainTurn+`,"answer":`+deep+`},`+plainTurn+`}`)},
		{ClassValidation, fmt.Sprintf(inRecord, `"turns":[`+plainTurn+`,"answer":`+deep+`}],"gaps":5`)},
	} {
		expect(t, tt.want, tt.text)
	}
}
