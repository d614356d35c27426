package world

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Who holds a world's kubeconfig finds its clouds beside it, and who holds another one finds none.
func TestCloudsOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := layout(dir).writePlaces(places{APIServer: 1, AWS: 4566}); err != nil {
		t.Fatal(err)
	}
	settings, ok, err := CloudsOf(Kubeconfig(dir))
	if err != nil || !ok || !slices.Contains(settings, "AWS_ENDPOINT_URL=http://127.0.0.1:4566") || !slices.Contains(settings, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull) {
		t.Errorf("want the settings of the simulated account and no credentials file, got %v, %v, %v", settings, ok, err)
	}
	for _, other := range []string{filepath.Join(t.TempDir(), "kubeconfig"), filepath.Join(dir, "config")} {
		if settings, ok, err := CloudsOf(other); ok || err != nil {
			t.Errorf("%s: want no world, got %v, %v", other, settings, err)
		}
	}
	if err := os.WriteFile(layout(dir).placesFile(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := CloudsOf(Kubeconfig(dir)); err == nil {
		t.Error("want a broken file told")
	}
}
