package report

import (
	"fmt"

	"github.com/muster-project/muster/pool"
)

// templateReady reports whether the newest template in the cloud is the one that the specification asks for.
func templateReady(f facts) *Condition {
	if f.d.Deleting {
		return nil
	}
	if !f.out.Seen {
		return unseen(f, TemplateReady)
	}
	if c := templateRefused(f); c != nil {
		return c
	}
	switch {
	case f.o.Wanted.Content == "" && f.d.CreateBlocked != nil:
		return &Condition{TemplateReady, False, f.d.CreateBlocked.Reason, f.d.CreateBlocked.Message}
	case f.o.Wanted.Content == "":
		return &Condition{TemplateReady, Unknown, "TemplateUnknown", fmt.Sprintf("the inputs of the %s are not known", f.t.Template)}
	default:
		return newestTemplate(f)
	}
}

// templateRefused is the condition while the cloud refuses a version of the template, or a look-up that the template is made from.
func templateRefused(f facts) *Condition {
	if c := refusal(f, TemplateReady, pool.PutTemplate); c != nil {
		return c
	}
	if f.o.Wanted.Content == "" && f.d.CreateBlocked == nil && len(f.o.Issues) > 0 {
		return &Condition{TemplateReady, False, f.o.Issues[0].Reason, f.o.Issues[0].Message}
	}
	return nil
}

// templateBlocks returns why no group can be made while there is none: there is no template to make it from, and none is being made.
func templateBlocks(f facts) *Condition {
	c := templateReady(f)
	if c.Status == True || withGroup(f) && c.Reason == templateMissing || c.Reason == lacks(f) && !f.o.Wanted.UserManaged {
		return nil
	}
	return c
}

// newestTemplate holds the newest template against the wanted one.
func newestTemplate(f facts) *Condition {
	latest := f.o.Latest()
	lack := lacks(f)
	if lack == "" && withGroup(f) {
		return &Condition{TemplateReady, False, templateMissing, fmt.Sprintf("the %s is created with the %s", f.t.Template, f.t.Group)}
	}
	if f.d.CreateBlocked != nil && lack != "" && lack != "TemplateNotFound" {
		return &Condition{TemplateReady, False, f.d.CreateBlocked.Reason, f.d.CreateBlocked.Message}
	}
	switch lack {
	case "TemplateNotFound":
		return &Condition{TemplateReady, False, "TemplateNotFound",
			fmt.Sprintf("the %s that the specification names does not exist, or can't be seen yet", f.t.Template)}
	case templateMissing:
		return &Condition{TemplateReady, False, templateMissing, fmt.Sprintf("the %s is being created", f.t.Template)}
	case "TemplateChanged":
		text := fmt.Sprintf("a new version of the %s is being created", f.t.Template)
		if f.t.InlineTemplate {
			text = fmt.Sprintf("the %s of the %s is being changed", f.t.Template, f.t.Group)
		}
		return &Condition{TemplateReady, False, "TemplateChanged", text}
	}
	return &Condition{TemplateReady, True, "UpToDate", fmt.Sprintf("%s %s%s is what the specification asks for", f.t.Template, latest.Ref,
		origin(f)) + leftovers(f)}
}

// templateMissing is the reason of a template that is to be created.
const templateMissing = "TemplateMissing"

// withGroup reports whether the template is created with the group, and there is none.
func withGroup(f facts) bool { return f.o.Group == nil && (f.t.InlineTemplate || f.o.Latest().ByCloud) }

// origin tells where the newest template comes from, unless Muster has created it.
func origin(f facts) string {
	switch latest := f.o.Latest(); {
	case latest.ByCloud:
		return fmt.Sprintf(", which the cloud makes of the settings of the %s,", f.t.Group)
	case latest.UserManaged:
		return ", which Muster does not manage,"
	}
	return ""
}

// leftovers names what the cloud accepts without effect and no machine is launched from: the default version, versions to delete.
func leftovers(f facts) string {
	if c := refusal(f, TemplateReady, pool.DefaultTemplate, pool.PruneTemplates); c != nil && c.Reason == pool.NoEffect {
		return "; " + c.Message
	}
	return ""
}

// lacks returns, in one word, what the newest template lacks; empty if nothing. New bootstrap data does not count: a rotated token changes
// no machine.
func lacks(f facts) string {
	latest, wanted := f.o.Latest(), f.o.Wanted
	switch {
	case wanted.Content == "":
		return ""
	case latest.Ref == "" && wanted.UserManaged:
		return "TemplateNotFound"
	case latest.Ref == "":
		return templateMissing
	case !latest.Same(wanted):
		return "TemplateChanged"
	}
	return ""
}
