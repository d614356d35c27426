package page

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"html/template"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/page/assets"
	"github.com/muster-project/muster/view/page/chart"
	"github.com/muster-project/muster/view/plan"
)

//go:embed templates/*.html
var files embed.FS

// base holds the fields that every page shows.
type base struct {
	Title, Here, User string
	// Anonymous is true before a login: there is nothing to navigate.
	Anonymous bool
	// WithPlans and WithAccounts tell whether there are such views for the user.
	WithPlans, WithAccounts bool
}

type errorPage struct {
	base
	Code          int
	Text, Message string
}

// pages are the templates by page, each with the layout.
var pages = sync.OnceValues(func() (map[string]*template.Template, error) {
	out := map[string]*template.Template{}
	for _, name := range []string{"fleet", "pool", "error", "login", "accounts", "plan"} {
		t, err := template.New("layout.html").Funcs(functions).ParseFS(files, "templates/layout.html", "templates/parts.html",
			"templates/"+name+".html")
		if err != nil {
			return nil, fmt.Errorf("read the template of page %s: %w", name, err)
		}
		out[name] = t
	}
	return out, nil
})

func checkTemplates() error {
	_, err := pages()
	return err
}

// functions are those that templates call.
var functions = template.FuncMap{
	"asset": assets.Address, "number": number, "ago": ago, "row": rowID, "levelName": levelName, "bar": bar, "poolPath": poolPath,
	"plural": plural, "rate": rate, "whole": whole, "effect": effect, "choice": newChoice, "lower": strings.ToLower,
	"moment": moment, "ordinal": func(k int) int { return k + 1 }, "share": share,
}

// number shows a count; one that is unknown as a question mark.
func number(n *int32) string {
	if n == nil {
		return "?"
	}
	return fmt.Sprint(*n)
}

// ago returns a time as an element whose text the page's script replaces by the time that has passed since.
func ago(at time.Time) template.HTML {
	if at.IsZero() {
		return `<span class="unknown">-</span>`
	}
	text := at.UTC().Format(time.RFC3339)
	// Digits and letters, which need no escaping.
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`, text, text, at.UTC().Format("Jan 2 15:04")))
}

// bar shows how many machines are up to date.
func bar(upToDate, desired *int32) template.HTML {
	return chart.Bar(upToDate, desired, fmt.Sprintf("%s of %s up to date", number(upToDate), number(desired)))
}

// moment shows a time that is still to come.
func moment(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// share shows how many machines of a wave are replaced.
func share(replaced, of int) template.HTML {
	part, whole := int32(replaced), int32(of)
	return chart.Bar(&part, &whole, fmt.Sprintf("%d of %d replaced", replaced, of))
}

// rowID returns the id of the element of a pool: names may have characters that selectors give a meaning to.
func rowID(namespace, name string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(namespace + "/" + name)) // into memory
	return fmt.Sprintf("pool-%x", h.Sum64())
}

// poolPath returns the address of a pool's view.
func poolPath(namespace, name string) string {
	return "/pools/" + url.PathEscape(namespace) + "/" + url.PathEscape(name)
}

// levelNames are the levels for people.
var levelNames = map[view.Level]string{view.Problem: "Problem", view.Progressing: "In progress", view.Unknown: "Unknown",
	view.Healthy: "Healthy"}

func levelName(l view.Level) string { return levelNames[l] }

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func rate(calls float64) string { return strconv.FormatFloat(calls, 'f', 1, 64) }

// whole shows the whole part of a number.
func whole(n float64) string { return strconv.FormatFloat(math.Floor(n), 'f', 0, 64) }

// effects are the effects of changed fields for people.
var effects = map[plan.Effect]string{plan.ReplacesMachines: "replaces machines", plan.NewMachinesOnly: "new machines only",
	plan.InPlace: "no machine replaced", plan.Nothing: "nothing changes now", plan.Unknown: "can't be told"}

func effect(e plan.Effect) string { return effects[e] }

// choice is a filter with its values.
type choice struct {
	Name, Label, Chosen string
	Values              []string
}

func newChoice(name, label, chosen string, values []string) choice {
	return choice{name, label, chosen, values}
}

// execute runs a template of a page.
func execute(page, part string, data any) ([]byte, error) {
	all, err := pages()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := all[page].ExecuteTemplate(&b, part, data); err != nil {
		return nil, fmt.Errorf("render page %s: %w", page, err)
	}
	return b.Bytes(), nil
}

// render answers with a page.
func (s *Server) render(w http.ResponseWriter, code int, page string, data any) {
	text, err := execute(page, "layout.html", data)
	if err != nil {
		klog.Background().Error(err, "the page could not be rendered")
		http.Error(w, "the page could not be rendered", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(text) // the client went away
}

// Login answers with a form for a token. The message is shown if the user has sent one.
func Login(w http.ResponseWriter, code int, message string, sent bool) {
	p := errorPage{base: base{Title: "", Anonymous: true}, Code: code, Text: http.StatusText(code)}
	if sent {
		p.Message = message
	}
	(&Server{}).render(w, code, "login", p)
}

// wantsJSON reports whether a client asks for the view model.
func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(v) // the client went away
}

// asStatus finds the API server's answer in an error.
func asStatus(err error, status *apierrors.APIStatus) bool { return errors.As(err, status) }
