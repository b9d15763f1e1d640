package trajectory

import (
	"fmt"
	"strings"
	"testing"
)

// TestDepth goes through all free values: the deepest that is allowed, and one level more.
func TestDepth(t *testing.T) {
	tests := []struct {
		levels       int
		frame, value string // value has the place of the free one
	}{
		{255, inTurns, plainTurn + `,"question":%s}`},
		{255, inTurns, plainTurn + `,"answer":%s}`},
		{255, inTurns, plainTurn + `,"reasoning_content":%s}`},
		{255, inCalls, `{"request":%s}`},
		{255, inCalls, `{"response":%s}`},
		{255, inTools, plainTool + `,"output":%s}`},

		// Keys that a hosted kind does not know, at every level.
		{254, inItems, `{"foo":%s}`},
		{254, inItems, `{"role":"x","content":%s}`},
		{254, inItems, `{"type":"compaction_trigger","status":%s}`},
		{254, inItems, `{"type":"compaction_trigger","":%s}`},
		{254, inFound, `{"x":%s}`},
		{254, inSearch, `{"type":"search","x":%s}`},
		{254, inSources, `{"type":"url","url":"","x":%s}`},
		{254, inChecks, `{"id":"","x":%s}`},
		{254, inPath, `{"x":1,"y":1,"z":%s}`},
		{254, inAction, `{"type":"wait","x":%s}`},
		{254, inScreen, `{"type":"computer_screenshot","x":%s}`},
		{254, inCode, `{"type":"logs","logs":"","x":%s}`},
		{254, inExec, `{"type":"exec","command":[],"env":{},"x":%s}`},
		{254, inPatch, `{"type":"delete_file","path":"","x":%s}`},
		{254, inCommands, `{"commands":[],"x":%s}`},
		{254, inShell, `{"type":"local","x":%s}`},
		{254, inShown, `{"stdout":"","stderr":"","outcome":{"type":"timeout"},"x":%s}`},
		{254, inOutcome, `{"type":"timeout","x":%s}`},
		{254, inCustom, `{"type":"input_text","text":"","x":%s}`},
		{254, inToolList, `{"type":"computer","x":%s}`},
		{254, inToolList, `{"type":"namespace","name":"","description":"","tools":[{"type":"custom","name":"","x":%s}]}`},
		{254, inToolList, `{"type":"code_interpreter","container":{"type":"auto","x":%s}}`},
		// And inside the members of reasoning.
		{254, inReasons, `{"type":"summary_text","text":"","x":%s}`},
		{254, inThoughts, `{"type":"reasoning_text","text":"","x":%s}`},

		{254, inItems, `{"type":"mcp_list_tools","tools":[0,%s]}`},
		{254, inItems, `{"type":"tool_search_call","id":"","arguments":%s,"execution":"server","status":"completed"}`},
		{254, inContent, `{"type":"input_video","video":{"url":"u","x":%s}}`},
		{254, inContent, `{"type":"input_video","video_url":{"x":%s,"url":"u"}}`},
		{254, inToolList, `{"type":"function","name":"","parameters":{"x":%s}}`},

		// Members that are dropped have no limit but the scanner's.
		{900, inItems, `{"role":"user","content":"x","foo":%s}`},
		{900, inItems, `{"type":"function_call","arguments":"","call_id":"","name":"","foo":%s}`},
		{900, inItems, `{"type":"reasoning","id":"","summary":[],"foo":%s}`},
		{900, inContent, `{"type":"input_text","text":"","foo":%s}`},
		{900, inContent, `{"type":"input_video","video":"v","foo":%s}`},
		{900, inOutput, `{"refusal":"","foo":%s}`},
		{900, inNote, `{"type":"file_path","file_id":"","index":1,"foo":%s}`},
		{900, inModelRef, `{"type":"responses_api_models","name":"n","foo":%s}`},
	}
	for _, tt := range tests {
		frame := fmt.Sprintf(tt.frame, tt.value)
		expect(t, "", fmt.Sprintf(frame, nested(tt.levels)))
		if tt.levels == 900 {
			continue
		}
		expect(t, "", fmt.Sprintf(frame, nested(tt.levels-1)))
		expect(t, ClassValue, fmt.Sprintf(frame, nested(tt.levels+1)))
		// An empty container is a level like a scalar.
		expect(t, "", fmt.Sprintf(frame, strings.Repeat("[", tt.levels)+strings.Repeat("]", tt.levels)))
		expect(t, ClassValue, fmt.Sprintf(frame, strings.Repeat(`{"a":`, tt.levels)+"{}"+strings.Repeat("}", tt.levels)))
		// What a repeated key replaces does not count, wherever it stands.
		expect(t, "", fmt.Sprintf(frame, strings.Repeat(`[{"a":`+nested(tt.levels)+`,"b":2,"\u0061":`, 100)+"0"+strings.Repeat("}]", 100)))
		expect(t, ClassValue, fmt.Sprintf(frame, strings.Repeat(`[{"a":`, 100)+nested(tt.levels-199)+strings.Repeat(`,"b":2}]`, 100)))
		expect(t, "", fmt.Sprintf(frame, strings.Repeat(`[{"a":`, 100)+nested(tt.levels-200)+strings.Repeat(`,"b":`+nested(20)+`}]`, 100)))
		expect(t, ClassValue, fmt.Sprintf(frame, `{"a":1,"a":`+nested(tt.levels)+`,"b":0}`))
	}
	// The key of a free value itself may be repeated.
	expect(t, "", fmt.Sprintf(inItems, `{"foo":`+nested(255)+`,"foo":1}`))
	expect(t, ClassValue, fmt.Sprintf(inItems, `{"foo":1,"foo":`+nested(255)+`}`))
	expect(t, "", fmt.Sprintf(inTurns, plainTurn+`,"answer":`+nested(256)+`,"answer":1}`))
	expect(t, "", fmt.Sprintf(inContent, `{"type":"input_video","video":{"url":"u","x":`+nested(255)+`,"x":1}}`))
	// A key that a field has is no unknown one.
	expect(t, ClassValidation, fmt.Sprintf(inItems, `{"type":"compaction","id":"","encrypted_content":`+nested(256)+`}`))
}
