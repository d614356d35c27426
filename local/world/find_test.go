package world

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCloudsOf holds that the kubeconfig of a world leads to its clouds, and any other one to none.
func TestCloudsOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := Dir(dir).writePlaces(places{apiServerPlace: 1, "aws": 4566, "azure": 4567}); err != nil {
		t.Fatal(err)
	}
	settings, ok, err := CloudsOf(Dir(dir).Kubeconfig())
	if err != nil || !ok || !slices.Contains(settings, "AWS_ENDPOINT_URL=http://127.0.0.1:4566") ||
		!slices.Contains(settings, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull) {
		t.Errorf("want the settings of the simulated account and no credentials file, got %v, %v, %v", settings, ok, err)
	}
	if !slices.Contains(settings, "AZURE_RESOURCE_MANAGER_ENDPOINT=http://127.0.0.1:4567") {
		t.Errorf("want the simulated Azure beside it, got %v", settings)
	}
	for _, other := range []string{filepath.Join(t.TempDir(), "kubeconfig"), filepath.Join(dir, "config")} {
		if settings, ok, err := CloudsOf(other); ok || err != nil {
			t.Errorf("%s: want no world, got %v, %v", other, settings, err)
		}
	}
	if err := os.WriteFile(Dir(dir).placesFile(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := CloudsOf(Dir(dir).Kubeconfig()); err == nil {
		t.Error("want a broken file told")
	}
}

// TestControllersReachNoRealAccount: what leads to one in the environment of the process that starts a world is left out.
func TestControllersReachNoRealAccount(t *testing.T) {
	real := map[string]string{
		"AWS_PROFILE": "work", "AWS_ENDPOINT_URL": "https://real", "AZURE_CLIENT_SECRET": "real",
		"AZURE_RESOURCE_MANAGER_ENDPOINT": "https://real", "AZURE_FEDERATED_TOKEN_FILE": "/real",
		"IDENTITY_ENDPOINT": "http://real", "MSI_ENDPOINT": "http://real",
	}
	for name, value := range real {
		t.Setenv(name, value)
	}
	t.Setenv("UNRELATED", "stays")
	got := places{"aws": 4566, "azure": 4567}.controllersEnvironment()
	for name, value := range real {
		if slices.Contains(got, name+"="+value) {
			t.Errorf("want %s left out, found it as it was", name)
		}
	}
	for _, want := range []string{"UNRELATED=stays", "AWS_ENDPOINT_URL=http://127.0.0.1:4566",
		"AZURE_RESOURCE_MANAGER_ENDPOINT=http://127.0.0.1:4567"} {
		if !slices.Contains(got, want) {
			t.Errorf("want %s, found none", want)
		}
	}
}

// TestOneCloudIsEnough holds that only simulated clouds are offered.
func TestOneCloudIsEnough(t *testing.T) {
	t.Parallel()
	p := places{"aws": 4566, "azure": 4567}
	for cloud, other := range map[string]string{"aws": "AZURE_", "azure": "AWS_"} {
		for _, setting := range p.cloudEnvironment([]string{cloud}) {
			if strings.HasPrefix(setting, other) {
				t.Errorf("%s alone: want no setting of the other, got %s", cloud, setting)
			}
		}
	}
	if err := (&Options{Dir: t.TempDir(), Clouds: []string{"moon"}}).check(); err == nil ||
		!strings.Contains(err.Error(), `(aws, azure, gcp, scaleway, oci), found "moon"`) {
		t.Errorf("want a cloud that is not simulated refused, got %v", err)
	}
}
