package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTemplatesLeaveTheSizeToUsers holds that no template gives the size of a pool to an autoscaler that users have not installed.
func TestTemplatesLeaveTheSizeToUsers(t *testing.T) {
	t.Parallel()
	templates, seen := os.DirFS(filepath.Join(root, "templates")), 0
	err := fs.WalkDir(templates, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(file) != ".yaml" {
			return err
		}
		seen++
		text, err := fs.ReadFile(templates, file)
		if strings.Contains(string(text), "replicas-managed-by") {
			t.Errorf("templates/%s: want the size to be the user's, got an annotation that gives it to an autoscaler", file)
		}
		return err
	})
	if err != nil || seen == 0 {
		t.Fatalf("want templates, got %d, %v", seen, err)
	}
}
