package groups

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"google.golang.org/api/compute/v1"
	"google.golang.org/api/googleapi"

	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/cloud/sweep"
)

// TemplateFields are the fields of an instance template that describe its machines. Templates never change.
type TemplateFields struct {
	MachineType, DiskType string
	DiskSizeGb            int64
	// Image is the name of the boot disk's image.
	Image string
}

// Templates read instance templates, for all pools of a session together. The zero Templates have read nothing.
type Templates struct {
	mu sync.Mutex
	by map[string]*TemplateReader
}

// TemplateReader reads the templates of one session.
type TemplateReader struct {
	c     *session.Session
	sweep *sweep.Sweep[TemplateFields]
	mu    sync.Mutex
	known map[string]TemplateFields
}

const (
	// maxReaders bounds the sessions whose templates are kept, maxKnown the templates of one; when there are more, all are read again.
	maxReaders, maxKnown = 64, 16384
	// templatesMaxAge is the maximum age of a list of templates that answers. A template that is not in it is read by name.
	templatesMaxAge = 10 * time.Minute
	// The parts of templates that are read. The metadata, which holds what machines join with, is none of them.
	fieldsOne  = "name,properties(machineType,disks(boot,diskSizeGb,initializeParams(diskType,diskSizeGb,sourceImage)))"
	fieldsList = "nextPageToken,items/*/instanceTemplates(" + fieldsOne + ")"
)

// Of returns the reader of a session.
func (t *Templates) Of(c *session.Session) *TemplateReader {
	t.mu.Lock()
	defer t.mu.Unlock()
	if found, ok := t.by[c.Key]; ok {
		return found
	}
	if t.by == nil || len(t.by) >= maxReaders {
		t.by = map[string]*TemplateReader{}
	}
	r := &TemplateReader{c: c, known: map[string]TemplateFields{}}
	r.sweep = sweep.New(sweep.Options[TemplateFields]{Some: r.some, All: r.all})
	t.by[c.Key] = r
	return r
}

// Read returns the facts of templates by their paths within the project. One that is gone is left out.
func (r *TemplateReader) Read(ctx context.Context, paths []string) (map[string]TemplateFields, error) {
	out := map[string]TemplateFields{}
	var missing []string
	r.mu.Lock()
	for _, path := range paths {
		if is, ok := r.known[path]; ok {
			out[path] = is
		} else if !slices.Contains(missing, path) && path != "" {
			missing = append(missing, path)
		}
	}
	r.mu.Unlock()
	for _, path := range missing {
		answer, err := r.sweep.Get(ctx, path, templatesMaxAge)
		if err != nil {
			return nil, err
		}
		if answer.Found {
			out[path] = answer.Value
		}
	}
	r.keep(out)
	return out, nil
}

func (r *TemplateReader) keep(read map[string]TemplateFields) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= maxKnown {
		r.known = map[string]TemplateFields{}
	}
	maps.Copy(r.known, read)
}

// some reads single templates: those of regions, and global ones.
func (r *TemplateReader) some(ctx context.Context, paths []string, found func(string, TemplateFields)) error {
	for _, path := range paths {
		is, err := r.one(ctx, session.ParseResource(path))
		if err = r.c.Refusal(err); err != nil && !session.Absent(err) {
			return err
		}
		if err == nil {
			found(path, factsOf(is))
		}
	}
	return nil
}

func (r *TemplateReader) one(ctx context.Context, at session.Resource) (*compute.InstanceTemplate, error) {
	if region := at.Location(); region != "" {
		return r.c.Compute.RegionInstanceTemplates.Get(r.c.Project, region, at.Name).Fields(googleapi.Field(fieldsOne)).Context(ctx).Do()
	}
	return r.c.Compute.InstanceTemplates.Get(r.c.Project, at.Name).Fields(googleapi.Field(fieldsOne)).Context(ctx).Do()
}

// all lists the templates of the project in all scopes. Those of a scope that can't be read are read one by one.
func (r *TemplateReader) all(ctx context.Context, found func(string, TemplateFields)) (int, error) {
	return r.c.Listed(ctx, func(ctx context.Context, token string) (string, error) {
		list := r.c.Compute.InstanceTemplates.AggregatedList(r.c.Project).ReturnPartialSuccess(true).PageToken(token)
		page, err := list.Fields(googleapi.Field(fieldsList)).Context(ctx).Do()
		if err != nil {
			return "", err
		}
		for scope, in := range page.Items {
			for _, is := range in.InstanceTemplates {
				found(session.Resource{Scope: scope, Collection: "instanceTemplates", Name: is.Name}.Path(), factsOf(is))
			}
		}
		return page.NextPageToken, nil
	})
}

func factsOf(is *compute.InstanceTemplate) TemplateFields {
	var f TemplateFields
	if is.Properties == nil {
		return f
	}
	f.MachineType = session.LastName(is.Properties.MachineType)
	for _, d := range is.Properties.Disks {
		if !d.Boot || d.InitializeParams == nil {
			continue
		}
		f.DiskType, f.DiskSizeGb = session.LastName(d.InitializeParams.DiskType), max(d.InitializeParams.DiskSizeGb, d.DiskSizeGb)
		f.Image = session.LastName(d.InitializeParams.SourceImage)
	}
	return f
}
