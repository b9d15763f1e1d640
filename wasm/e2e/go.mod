module github.com/rollscope/rollscope/wasm/e2e

go 1.26.0

require (
	github.com/chromedp/cdproto v0.160.1
	github.com/chromedp/chromedp v0.23.1
	github.com/rollscope/rollscope v0.0.0
)

require (
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
	gonum.org/v1/gonum v0.17.0 // indirect
)

replace github.com/rollscope/rollscope => ../..
