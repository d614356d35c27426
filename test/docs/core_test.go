package docs

import (
	"strconv"
	"strings"
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// core is the document of the controller of MachinePools.
const core = "docs/core-machinepool.md"

// TestCoreShowsEveryCondition holds that the documented output of kubectl and clusterctl has every condition of a MachinePool.
func TestCoreShowsEveryCondition(t *testing.T) {
	text := section(t, read(t, core), "What it looks like")
	for _, condition := range []string{
		clusterv1.AvailableCondition, clusterv1.ReadyCondition, clusterv1.BootstrapConfigReadyCondition,
		clusterv1.InfrastructureReadyCondition, clusterv1.MachinesReadyCondition, clusterv1.MachinesUpToDateCondition,
		clusterv1.ScalingUpCondition, clusterv1.ScalingDownCondition, clusterv1.RemediatingCondition,
		clusterv1.DeletingCondition, clusterv1.PausedCondition,
	} {
		if !strings.Contains(text, "─"+condition+" ") || !strings.Contains(text, "Type:                  "+condition+"\n") {
			t.Errorf("want the condition %s shown by clusterctl and by kubectl", condition)
		}
	}
}

// The figures of the benchmark agree with each other, and with what was set as the goal.
func TestCoreFigures(t *testing.T) {
	const goal = 100
	rows := 0
	for line := range strings.Lines(section(t, read(t, core), "What a pass costs")) {
		cells := strings.Split(line, "|")
		if len(cells) != 9 || strings.Contains(cells[1], "-") || strings.Contains(cells[1], "nodes") {
			continue
		}
		rows++
		ours, theirs, times := figure(t, cells[3]), figure(t, cells[4]), figure(t, cells[5])
		if ratio := theirs / ours; ratio < times*0.95 || ratio > times*1.05 {
			t.Errorf("want %s so many times %s, got %v", cells[4], cells[3], times)
		}
		if nodes := figure(t, strings.ReplaceAll(cells[1], ",", "")); nodes == 10_000 && times < goal {
			t.Errorf("want Cluster API's pass to take at least %d times as long at 10,000 nodes, got %v", goal, times)
		}
	}
	if rows != 6 {
		t.Errorf("want a row for each of three sizes of clusters and two of pools, got %d", rows)
	}
}

// figure returns the number in a cell, whose unit comes after it.
func figure(t *testing.T, cell string) float64 {
	t.Helper()
	number, _, _ := strings.Cut(strings.TrimSpace(cell), " ")
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}
