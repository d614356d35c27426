package report

import (
	"fmt"

	"github.com/muster-project/muster/pool"
)

// templateReady says whether the newest template in the cloud is the one that the specification asks for.
func templateReady(f facts) *Condition {
	if f.d.Deleting {
		return nil
	}
	if !f.out.Seen {
		return unseen(f, TemplateReady)
	}
	if c := refusal(f, TemplateReady, pool.PutTemplate); c != nil {
		return c
	}
	switch {
	case f.o.Wanted.Content == "" && f.d.Held != nil:
		return &Condition{TemplateReady, False, f.d.Held.Reason, f.d.Held.Message}
	case f.o.Wanted.Content == "" && len(f.o.Issues) > 0:
		return &Condition{TemplateReady, False, f.o.Issues[0].Reason, f.o.Issues[0].Message}
	case f.o.Wanted.Content == "":
		return &Condition{TemplateReady, Unknown, "TemplateUnknown", fmt.Sprintf("what the %s is made of is not known", f.t.Template)}
	default:
		return newestTemplate(f)
	}
}

// newestTemplate holds the newest template against the wanted one.
func newestTemplate(f facts) *Condition {
	latest := f.o.Latest()
	switch {
	case latest.Ref == "":
		return &Condition{TemplateReady, False, "TemplateMissing", fmt.Sprintf("the %s is being made", f.t.Template)}
	case !latest.Same(f.o.Wanted):
		return &Condition{TemplateReady, False, "TemplateChanged", fmt.Sprintf("a new version of the %s is being made", f.t.Template)}
	case latest.Data != f.o.Wanted.Data:
		return &Condition{TemplateReady, False, "BootstrapDataChanged", fmt.Sprintf("a version of the %s with new bootstrap data is being made", f.t.Template)}
	default:
		return &Condition{TemplateReady, True, "AsWanted", fmt.Sprintf("%s %s is what the specification asks for", f.t.Template, latest.Ref)}
	}
}
