package page

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/view/plan"
)

const (
	// maxPlans bounds the plans that are made at the same time: each reads clouds and workload clusters. planLimit bounds the time of one.
	maxPlans, planLimit = 2, time.Minute
	// maxDocuments bounds the manifests of one plan.
	maxDocuments = 50
)

// PlanRequest asks for the effects of an edit.
type PlanRequest struct {
	Namespace, Kind, Name string
	// Set are fields with other values, as PATH=VALUE. Manifests are planned as if they were applied.
	Set       []string
	Manifests []*unstructured.Unstructured
}

type planPage struct {
	base
	Namespace, Pool, Set, Manifest string
	Asked                          bool
	Plans                          []plan.Plan
	Error                          string
}

// plan answers with the form, and with the plans for what it holds. The API server sees edits as dry runs; nothing is written.
func (s *Server) plan(w http.ResponseWriter, r *http.Request, v *Viewer) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return apierrors.NewBadRequest("want a form of at most 1 MiB: " + err.Error())
	}
	p := planPage{base: s.base(v, "plan"), Namespace: strings.TrimSpace(r.Form.Get("namespace")), Pool: strings.TrimSpace(r.Form.Get("pool")),
		Set: r.Form.Get("set"), Manifest: r.Form.Get("manifest")}
	code := http.StatusOK
	var err error
	if p.Asked = p.Pool != "" || strings.TrimSpace(p.Manifest) != ""; p.Asked {
		p.Plans, err = s.plans(r.Context(), v, p)
	}
	if err != nil {
		code, p.Error = http.StatusUnprocessableEntity, err.Error()
		if status := apierrors.APIStatus(nil); asStatus(err, &status) && status.Status().Code >= http.StatusBadRequest {
			code = int(status.Status().Code)
		}
	}
	if wantsJSON(r) {
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json")
		return plan.JSON(w, p.Plans)
	}
	s.render(w, code, "plan", p)
	return nil
}

// plans makes the plans that a form asks for.
func (s *Server) plans(ctx context.Context, v *Viewer, p planPage) ([]plan.Plan, error) {
	request := PlanRequest{Namespace: p.Namespace, Kind: "machinepool", Name: p.Pool}
	if kind, name, ok := strings.Cut(p.Pool, "/"); ok {
		request.Kind, request.Name = kind, name
	}
	if request.Namespace == "" {
		request.Namespace = "default"
	}
	for line := range strings.Lines(p.Set) {
		if line = strings.TrimSpace(line); line != "" {
			request.Set = append(request.Set, line)
		}
	}
	var err error
	if request.Manifests, err = manifests(p.Manifest); err != nil {
		return nil, err
	}
	if request.Name == "" && len(request.Set) > 0 {
		return nil, errors.New("want the pool whose field it is, found none")
	}
	if request.Name == "" {
		request.Kind = ""
	}
	select {
	case s.planning <- struct{}{}:
		defer func() { <-s.planning }()
	default:
		return nil, apierrors.NewTooManyRequests("other plans are being made", retryAfter)
	}
	ctx, cancel := context.WithTimeout(ctx, planLimit)
	defer cancel()
	return s.o.Plan(ctx, v, request)
}

// manifests reads YAML documents.
func manifests(text string) ([]*unstructured.Unstructured, error) {
	var list []*unstructured.Unstructured
	for _, document := range strings.Split("\n"+strings.ReplaceAll(text, "\r\n", "\n"), "\n---") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		if len(list) == maxDocuments {
			return nil, apierrors.NewBadRequest("want at most 50 documents")
		}
		content, err := utilyaml.ToJSON([]byte(document))
		u := &unstructured.Unstructured{}
		if err == nil {
			err = yaml.Unmarshal(content, &u.Object)
		}
		if err != nil || u.GetKind() == "" || u.GetName() == "" {
			return nil, apierrors.NewBadRequest("manifest: want YAML documents with apiVersion, kind and metadata.name")
		}
		list = append(list, u)
	}
	return list, nil
}
