package imports

import (
	"go/ast"
	"path"
	"strings"
)

// source is a file of the module: its folder, and the folders of the module that it imports by the names that it has for them.
type source struct {
	folder  string
	imports map[string]string
}

// importsOf returns the folders of the module that a file imports, by name.
func importsOf(f *ast.File) map[string]string {
	out := map[string]string{}
	for _, i := range f.Imports {
		folder, own := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module+"/")
		if !own {
			continue
		}
		name := path.Base(folder)
		if i.Name != nil {
			name = i.Name.Name
		}
		out[name] = folder
	}
	return out
}

// nameOf returns a type of the module as "folder.Type", empty for others.
func (s source) nameOf(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.StarExpr:
		return s.nameOf(x.X)
	case *ast.IndexExpr:
		return s.nameOf(x.X)
	case *ast.IndexListExpr:
		return s.nameOf(x.X)
	case *ast.Ident:
		return s.folder + "." + x.Name
	case *ast.SelectorExpr:
		if of, ok := x.X.(*ast.Ident); ok && s.imports[of.Name] != "" {
			return s.imports[of.Name] + "." + x.Sel.Name
		}
	}
	return ""
}

// embedded returns what the structs of a declaration embed of the module, by their names.
func (s source) embedded(d *ast.GenDecl) map[string][]string {
	out := map[string][]string{}
	for _, spec := range d.Specs {
		of, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		is, ok := of.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, field := range is.Fields.List {
			if name := s.nameOf(field.Type); len(field.Names) == 0 && name != "" {
				out[s.folder+"."+of.Name.Name] = append(out[s.folder+"."+of.Name.Name], name)
			}
		}
	}
	return out
}
