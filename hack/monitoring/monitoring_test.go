package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWritten holds that the dashboard and the table are those that the command writes.
func TestWritten(t *testing.T) {
	t.Parallel()
	page := read(t, document)
	board, err := boardOf(metricsOf(page))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(board, []byte(read(t, dashboard))) {
		t.Error("the dashboard is another one: run make generate")
	}
	if got, err := withAlerts(page, []byte(read(t, rules))); err != nil || got != page {
		t.Errorf("the table of alerts is another one: run make generate (%v)", err)
	}
}

// TestRefuses holds that a metric without a panel, an alert without an action and a page without a place are errors.
func TestRefuses(t *testing.T) {
	t.Parallel()
	page := read(t, document)
	more := metricsOf(page)
	more["muster_new"] = metric{name: "muster_new", kind: "gauge"}
	if _, err := boardOf(more); err == nil || !strings.Contains(err.Error(), "muster_new") {
		t.Errorf("want an error that names the metric, got %v", err)
	}
	if _, err := withAlerts(page, []byte("spec: {groups: [{rules: [{alert: A, annotations: {summary: s, description: d}}]}]}")); err == nil ||
		!strings.Contains(err.Error(), "alert A has no annotation action") {
		t.Errorf("want an error that names the alert, got %v", err)
	}
	if _, err := withAlerts("# Metrics\n", nil); err == nil {
		t.Error("want an error for a page without the lines")
	}
}
