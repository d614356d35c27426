package gather

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/config"
	"github.com/muster-project/muster/view/doctor"
)

// rights asks whether the manager's service account has what the roles of an installation grant.
func (g *gatherer) rights(ctx context.Context) error {
	m := g.muster()
	if m == nil {
		return nil
	}
	deployment := &appsv1.Deployment{}
	if err := g.Client.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: m.Name}, deployment); err != nil {
		return fmt.Errorf("read Deployment %s/%s: %w", m.Namespace, m.Name, err)
	}
	needed, err := g.neededRights(m)
	if err != nil {
		return err
	}
	account := cmp.Or(deployment.Spec.Template.Spec.ServiceAccountName, "default")
	found := &doctor.Rights{Account: m.Namespace + "/" + account, Checked: len(needed)}
	for _, right := range needed {
		allowed, err := g.may(ctx, "system:serviceaccount:"+m.Namespace+":"+account, right)
		if err != nil {
			return err
		}
		if !allowed {
			found.Missing = append(found.Missing, right)
		}
	}
	g.found.Rights = found
	return nil
}

// neededRights returns the rights that a manager needs with its flags, each once.
func (g *gatherer) neededRights(m *doctor.Manager) ([]doctor.Right, error) {
	files := []string{config.Manager, config.LeaderElection}
	if runs(m, coreController) {
		files = append(files, config.Core)
	}
	if m.Watches != "" {
		files = append(files, config.Namespaced)
	}
	var all []doctor.Right
	for _, file := range files {
		roles, err := rolesOf(file)
		if err != nil {
			return nil, err
		}
		for _, r := range roles {
			for _, right := range rightsOf(r.Rules) {
				if right, ok := g.scoped(m, file, r.Kind, right); ok && !slices.Contains(all, right) {
					all = append(all, right)
				}
			}
		}
	}
	return all, nil
}

// scoped returns a right with the namespace in which a manager needs it; false if another file has the right for such a manager.
func (g *gatherer) scoped(m *doctor.Manager, file, kind string, right doctor.Right) (doctor.Right, bool) {
	switch {
	case kind == "Role":
		right.Namespace = m.Namespace
	case m.Watches != "" && g.namespaced(right):
		right.Namespace = m.Watches
	case m.Watches != "":
		return right, file == config.Namespaced // which has what has no namespace
	}
	return right, true
}

// role is a Role or a ClusterRole.
type role struct {
	Kind  string              `json:"kind"`
	Rules []rbacv1.PolicyRule `json:"rules"`
}

func rolesOf(file string) ([]role, error) {
	text, err := config.Roles.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the role %s: %w", file, err)
	}
	var roles []role
	for _, part := range bytes.Split(text, []byte("\n---\n")) {
		r := role{}
		if err := yaml.Unmarshal(part, &r); err != nil {
			return nil, fmt.Errorf("read the role %s: %w", file, err)
		}
		roles = append(roles, r)
	}
	return roles, nil
}

// rightsOf takes rules apart.
func rightsOf(rules []rbacv1.PolicyRule) (list []doctor.Right) {
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range names {
						list = append(list, doctor.Right{Verb: verb, Group: group, Resource: resource, Name: name})
					}
				}
			}
		}
	}
	return list
}

// namespaced reports whether the resource of a right has a namespace. A resource that is not served is taken for one that has.
func (g *gatherer) namespaced(r doctor.Right) bool {
	resource, _, _ := strings.Cut(r.Resource, "/")
	mapper := g.Client.RESTMapper()
	kind, err := mapper.KindFor(schema.GroupVersionResource{Group: r.Group, Resource: resource})
	if err != nil {
		return true
	}
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	return err != nil || mapping.Scope.Name() == meta.RESTScopeNameNamespace
}

// may asks the API server, which keeps nothing of the question.
func (g *gatherer) may(ctx context.Context, user string, r doctor.Right) (bool, error) {
	resource, sub, _ := strings.Cut(r.Resource, "/")
	account := strings.Split(user, ":")
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user, Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + account[2], "system:authenticated"},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: r.Namespace, Verb: r.Verb, Group: r.Group, Resource: resource,
			Subresource: sub, Name: r.Name},
	}}
	if err := g.Client.Create(ctx, review); err != nil {
		return false, fmt.Errorf("ask for the rights of %s: %w", user, err)
	}
	return review.Status.Allowed, nil
}
