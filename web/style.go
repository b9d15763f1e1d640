package web

import (
	"bytes"
	"embed"
)

//go:embed css
var sheets embed.FS

// sheetOrder is the order in which the parts of the stylesheet stand: a later one may rely on an earlier one.
var sheetOrder = [...]string{"tokens", "base", "shell", "table", "chart", "pages", "rollout", "harness", "scores", "calls", "coverage", "compare", "kept", "search", "share"}

// Stylesheet is the whole stylesheet of the page.
func Stylesheet() []byte {
	var b bytes.Buffer
	for _, name := range sheetOrder {
		sheet, err := sheets.ReadFile("css/" + name + ".css")
		if err != nil {
			panic(err) // embedded at build time
		}
		b.Write(sheet)
	}
	return b.Bytes()
}
