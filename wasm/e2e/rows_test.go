package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// row is a small rollout of a task.
func row(task, rollout int) string {
	return fmt.Sprintf(`{"_ng_task_index":%d,"_ng_rollout_index":%d,"reward":%d}`, task, rollout, task%2)
}

// rows is a file of small rollouts, each of a task of its own.
func rows(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(row(i, 0) + "\n")
	}
	return b.String()
}

// write makes a file below a folder and gives its path.
func write(t testing.TB, folder, name, content string) string {
	t.Helper()
	path := filepath.Join(folder, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(content), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// files makes files below a folder of their own, named by their paths, and gives the folder.
func files(t testing.TB, contents map[string]string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "run")
	for name, content := range contents {
		write(t, folder, name, content)
	}
	return folder
}
