package rollout

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool/revision"
	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/plan"
)

// HistoryKind is the kind of the JSON form of a history.
const HistoryKind = "RolloutHistory"

// History lists the templates of a pool whose rollouts ended, the newest first.
type History struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Namespace  string     `json:"namespace"`
	Name       string     `json:"name"`
	Revisions  []Revision `json:"revisions"`
}

// Revision is a template of a pool.
type Revision struct {
	Number  int64       `json:"number"`
	Created metav1.Time `json:"created"`
	// Version is the version of Kubernetes; empty if the pool sets none.
	Version string `json:"version,omitempty"`
	// Current is true if the specification of the pool has this template now.
	Current bool `json:"current,omitempty"`
	// Changes are the differences to the revision before; none for the oldest.
	Changes []plan.Difference `json:"changes,omitempty"`
}

// Revisions returns the templates of a pool that are kept, the newest first.
func (p Pool) Revisions(ctx context.Context, c client.Client) ([]revision.Revision, error) {
	list, err := revision.Store{Client: c, Reader: c}.List(ctx, p.Infra)
	if apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("you may not list the ControllerRevisions of namespace %s: %w", p.Infra.GetNamespace(), err)
	}
	return list, err
}

// HistoryOf describes the templates of a pool, which are ordered from the newest.
func HistoryOf(p Pool, list []revision.Revision) (History, error) {
	h := History{APIVersion: APIVersion, Kind: HistoryKind, Namespace: p.MachinePool.Namespace, Name: p.MachinePool.Name,
		Revisions: []Revision{}}
	for k, r := range list {
		same, err := p.has(r)
		if err != nil {
			return h, err
		}
		one := Revision{Number: r.Number, Created: r.Created, Version: r.Template.MachinePool.Version, Current: same}
		if k+1 < len(list) {
			if one.Changes, err = differences(list[k+1], r); err != nil {
				return h, err
			}
		}
		h.Revisions = append(h.Revisions, one)
	}
	return h, nil
}

// has reports whether the specification of the pool has the template of a revision.
func (p Pool) has(r revision.Revision) (bool, error) {
	now, err := revision.Of(p.Infra, r.Template.Fields(), p.MachinePool)
	if err != nil {
		return false, err
	}
	a, err := now.Hash("")
	if err != nil {
		return false, err
	}
	b, err := r.Template.Hash("")
	return a == b, err
}

// differences returns what differs between two templates.
func differences(before, after revision.Revision) ([]plan.Difference, error) {
	list, err := plan.Differences(objectOf(before), objectOf(after))
	if err != nil {
		return nil, fmt.Errorf("compare revisions %d and %d: %w", before.Number, after.Number, err)
	}
	if from, to := before.Template.MachinePool.Version, after.Template.MachinePool.Version; from != to {
		list = append(list, plan.Difference{Path: "MachinePool " + versionPath, From: cmp.Or(from, "-"), To: cmp.Or(to, "-")})
	}
	return list, nil
}

// versionPath is the field of the version in a MachinePool.
const versionPath = "spec.template.spec.version"

// objectOf returns an object with nothing but the fields of a template that are set.
func objectOf(r revision.Revision) *unstructured.Unstructured {
	spec := maps.Clone(r.Template.Spec)
	maps.DeleteFunc(spec, func(_ string, value any) bool { return value == nil })
	return &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
}

// HistoryText writes a history for people.
func HistoryText(w io.Writer, h History, now time.Time, t view.Terminal) error {
	rows := [][]view.Cell{view.Cells("REVISION", "AGE", "VERSION", "CHANGE")}
	for _, r := range h.Revisions {
		number := strconv.FormatInt(r.Number, 10)
		if r.Current {
			number += " (in use)"
		}
		lines := []string{"-"}
		for k, d := range r.Changes {
			if line := fmt.Sprintf("%s: %s -> %s", d.Path, d.From, d.To); k == 0 {
				lines[0] = line
			} else {
				lines = append(lines, line)
			}
		}
		rows = append(rows, view.Cells(number, duration.HumanDuration(now.Sub(r.Created.Time)), cmp.Or(r.Version, "-"), lines[0]))
		for _, line := range lines[1:] {
			rows = append(rows, view.Cells("", "", "", line))
		}
	}
	text := "No rollout of the pool has ended yet.\n"
	if len(h.Revisions) > 0 {
		text = strings.Join(view.Grid(rows, 2, t), "\n") + "\n"
	}
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	return nil
}

// Undo returns the changes that give a pool the template of a former revision: number, or the newest that it has not now if that is 0. The
// second change, if there is one, is that of the MachinePool's version.
func (p Pool) Undo(list []revision.Revision, number int64) ([]Edit, error) {
	to, err := p.former(list, number)
	if err != nil {
		return nil, err
	}
	after := &unstructured.Unstructured{}
	if err := to.Template.Onto(after, p.Infra, to.Template.Fields()); err != nil {
		return nil, err
	}
	says := fmt.Sprintf("the template is that of revision %d", to.Number)
	var edits []Edit
	merge, err := client.MergeFrom(p.Infra).Data(after)
	if err != nil {
		return nil, fmt.Errorf("compare with revision %d: %w", to.Number, err)
	}
	if string(merge) != "{}" {
		edits = append(edits, p.infra().merge(merge, says))
	}
	if version := to.Template.MachinePool.Version; version != p.MachinePool.Spec.Template.Spec.Version {
		var value any = version
		if version == "" {
			value = nil
		}
		merge, err := json.Marshal(map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"version": value}}}})
		if err != nil {
			return nil, fmt.Errorf("encode the version: %w", err)
		}
		edits = append(edits, p.machinePool().merge(merge, "the version is that of revision "+strconv.FormatInt(to.Number, 10)))
	}
	return edits, nil
}

// former returns the revision to return to.
func (p Pool) former(list []revision.Revision, number int64) (revision.Revision, error) {
	var known []string
	for _, r := range list {
		same, err := p.has(r)
		switch {
		case err != nil:
			return r, err
		case number == r.Number && same:
			return r, fmt.Errorf("the pool has the template of revision %d already", number)
		case number == r.Number, number == 0 && !same:
			return r, nil
		}
		known = append(known, strconv.FormatInt(r.Number, 10))
	}
	switch {
	case len(list) == 0:
		return revision.Revision{}, errors.New("no revision is kept: no rollout of the pool has ended yet")
	case number == 0:
		return revision.Revision{}, errors.New("no other revision is kept than that of the present template")
	}
	return revision.Revision{}, fmt.Errorf("revision %d is not kept: those that are kept are %s", number, strings.Join(known, ", "))
}
