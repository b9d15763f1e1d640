// Test data is no part of the module that people install: some of its files have names that a module may not have.
module github.com/rollscope/rollscope/testdata

go 1.26.0
