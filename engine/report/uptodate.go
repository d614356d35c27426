package report

import "fmt"

// upToDate says whether every instance was launched from the wanted template.
func upToDate(f facts) *Condition {
	if f.d.Deleting {
		return nil
	}
	if !f.out.Seen {
		return unseen(f, UpToDate)
	}
	if f.counts.UpToDate == nil {
		return &Condition{UpToDate, Unknown, "TemplateUnknown", fmt.Sprintf("what the %s is made of is not known", f.t.Template)}
	}
	text := fmt.Sprintf("%d of %d machines were launched from the wanted %s", *f.counts.UpToDate, *f.counts.Current, f.t.Template)
	if *f.counts.UpToDate == *f.counts.Current {
		return &Condition{UpToDate, True, "AllUpToDate", text}
	}
	return &Condition{UpToDate, False, "TemplateChanged", text}
}
