package revision

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/muster-project/muster/api/common"
)

const (
	// OwnerLabel is the label of a revision with the UID of the infrastructure object whose template it has.
	OwnerLabel = "muster.dev/revision-of"
	// TemplateAnnotation is the annotation of a revision with the ID that a rollout of its template has.
	TemplateAnnotation = "muster.dev/template"
	// historyLimit is the number of revisions that are kept of a pool.
	historyLimit = 10
	// highest is above every number that Muster gives a revision; one with a greater number is another client's.
	highest = 1 << 31
	// nameLimit is the length of names of objects.
	nameLimit = 253
)

// +kubebuilder:rbac:groups=apps,resources=controllerrevisions,verbs=create;delete;get;list;patch

// Revision is a template that was rolled out.
type Revision struct {
	common.RevisionStatus
	Created  metav1.Time
	Template Template
}

// Store keeps the revisions of pools in the management cluster.
type Store struct {
	// Client writes. Reader reads live: no cache of all ControllerRevisions is kept for the rare moments at which some are needed.
	Client client.Client
	Reader client.Reader
}

// LostError is the error of a revision that does not exist any more, or whose content is not that of its name.
type LostError struct{ text string }

// Error names the revision.
func (e *LostError) Error() string { return e.text }

// Get returns a revision of a pool. The error of one that can't be used is a *LostError.
func (s Store) Get(ctx context.Context, o client.Object, name string) (Revision, error) {
	stored := &appsv1.ControllerRevision{}
	err := s.Reader.Get(ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: name}, stored)
	if apierrors.IsNotFound(err) {
		return Revision{}, &LostError{fmt.Sprintf("ControllerRevision %s does not exist any more", name)}
	}
	if err != nil {
		return Revision{}, fmt.Errorf("read ControllerRevision %s/%s: %w", o.GetNamespace(), name, err)
	}
	return read(o, stored)
}

// List returns the revisions of a pool, the newest first. Those that can't be used are left out.
func (s Store) List(ctx context.Context, o client.Object) ([]Revision, error) {
	all, err := s.list(ctx, o)
	if err != nil {
		return nil, err
	}
	list := make([]Revision, 0, len(all))
	for i := range all {
		if one, err := read(o, &all[i]); err == nil {
			list = append(list, one)
		}
	}
	return list, nil
}

// list returns the stored revisions of a pool, the newest first.
func (s Store) list(ctx context.Context, o client.Object) ([]appsv1.ControllerRevision, error) {
	all := &appsv1.ControllerRevisionList{}
	err := s.Reader.List(ctx, all, client.InNamespace(o.GetNamespace()), client.MatchingLabels{OwnerLabel: string(o.GetUID())})
	if err != nil {
		return nil, fmt.Errorf("list the ControllerRevisions of %s: %w", client.ObjectKeyFromObject(o), err)
	}
	slices.SortFunc(all.Items, func(a, b appsv1.ControllerRevision) int { return cmp.Compare(b.Revision, a.Revision) })
	return all.Items, nil
}

// read returns a stored revision, whose name tells its content: another client may have made it anew.
func read(o client.Object, stored *appsv1.ControllerRevision) (Revision, error) {
	r := Revision{Created: stored.CreationTimestamp, RevisionStatus: common.RevisionStatus{Name: stored.Name, Number: stored.Revision,
		Template: stored.Annotations[TemplateAnnotation]}}
	if err := utiljson.Unmarshal(stored.Data.Raw, &r.Template); err != nil {
		return r, &LostError{fmt.Sprintf("ControllerRevision %s can't be read: %v", stored.Name, err)}
	}
	hash, err := r.Template.Hash(string(o.GetUID()))
	if err != nil {
		return r, err
	}
	if stored.Name != Name(o, hash) {
		return r, &LostError{fmt.Sprintf("ControllerRevision %s was changed: its name is not that of its content", stored.Name)}
	}
	return r, nil
}

// Name returns the name of the revision of a template, by its hash.
func Name(o client.Object, hash string) string {
	name := o.GetName()
	if most := nameLimit - len(hash) - 1; len(name) > most {
		name = strings.TrimRight(name[:most], "-.")
	}
	return name + "-" + hash
}

// Keep stores the template of a pool whose rollout has ended, and removes the oldest ones. id is that of its rollout. A template that was
// stored before becomes the newest.
func (s Store) Keep(ctx context.Context, o client.Object, t Template, id string) (common.RevisionStatus, error) {
	hash, err := t.Hash(string(o.GetUID()))
	if err != nil {
		return common.RevisionStatus{}, err
	}
	all, err := s.list(ctx, o)
	if err != nil {
		return common.RevisionStatus{}, err
	}
	all = slices.DeleteFunc(all, func(r appsv1.ControllerRevision) bool { return r.Revision < 1 || r.Revision > highest })
	out := common.RevisionStatus{Name: Name(o, hash), Number: 1, Template: id}
	if len(all) > 0 {
		out.Number = all[0].Revision + 1
	}
	if i := slices.IndexFunc(all, func(r appsv1.ControllerRevision) bool { return r.Name == out.Name }); i >= 0 {
		if i == 0 {
			out.Number = all[0].Revision
		}
		err = s.renew(ctx, &all[i], out)
	} else {
		err = s.create(ctx, o, t, out)
		all = append([]appsv1.ControllerRevision{{ObjectMeta: metav1.ObjectMeta{Name: out.Name}}}, all...)
	}
	if err != nil {
		return common.RevisionStatus{}, err
	}
	return out, s.prune(ctx, all, out.Name)
}

// create stores a template for the first time.
func (s Store) create(ctx context.Context, o client.Object, t Template, is common.RevisionStatus) error {
	text, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("encode a template: %w", err)
	}
	r := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: is.Name,
		Labels: map[string]string{OwnerLabel: string(o.GetUID())}, Annotations: map[string]string{TemplateAnnotation: is.Template}},
		Data: runtime.RawExtension{Raw: text}, Revision: is.Number}
	if err := controllerutil.SetControllerReference(o, r, s.Client.Scheme(), controllerutil.WithBlockOwnerDeletion(false)); err != nil {
		return fmt.Errorf("own ControllerRevision %s: %w", is.Name, err)
	}
	if err := s.Client.Create(ctx, r); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create ControllerRevision %s/%s: %w", r.Namespace, r.Name, err)
	}
	return nil
}

// renew makes a stored template the newest.
func (s Store) renew(ctx context.Context, r *appsv1.ControllerRevision, is common.RevisionStatus) error {
	if r.Revision == is.Number && r.Annotations[TemplateAnnotation] == is.Template {
		return nil
	}
	before := r.DeepCopy()
	if r.Revision = is.Number; r.Annotations == nil {
		r.Annotations = map[string]string{}
	}
	r.Annotations[TemplateAnnotation] = is.Template
	if err := s.Client.Patch(ctx, r, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("renew ControllerRevision %s/%s: %w", r.Namespace, r.Name, err)
	}
	return nil
}

// prune removes the oldest revisions, except one.
func (s Store) prune(ctx context.Context, all []appsv1.ControllerRevision, keep string) error {
	kept := 1
	for i := range all {
		if all[i].Name == keep {
			continue
		}
		if kept++; kept <= historyLimit {
			continue
		}
		if err := s.Client.Delete(ctx, &all[i]); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete ControllerRevision %s/%s: %w", all[i].Namespace, all[i].Name, err)
		}
	}
	return nil
}
