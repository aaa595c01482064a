package main

import (
	"bytes"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"unicode"
)

// program is a compiled Ashlar with the versions of its parts.
type program struct {
	os, arch string
	binary   []byte
	info     *debug.BuildInfo
	sbom     []byte
	notices  []byte
	licences map[string]string // by module, and "std", as SPDX expressions
}

// noTables tells the compiler not to write debug tables, which the linker would discard.
// The checks compile with the same flag, so their build cache is reused here.
const noTables = "-dwarf=false"

// compile builds a program of the folder app for a system. The binary does not reveal
// where and when it was built.
func (r *release) compile(work, of, system, arch, linker string, env ...string) (*program, error) {
	out := filepath.Join(work, of+"-"+system+"-"+arch)
	if p := r.made[out]; p != nil {
		return p, nil
	}
	flags := strings.TrimSpace("-s -w -buildid= -X ashlar/app/desktop/version.number=" + r.version + " " + linker)
	args := []string{"build", "-trimpath", "-buildvcs=false", "-tags=novulkan,nethttpomithttp2", "-gcflags=all=" + noTables, "-ldflags=" + flags}
	if !r.own {
		// To save space, compile the packages that the program's folder lists without
		// inlining: they mostly wait for the user or the network.
		cold, err := os.ReadFile(filepath.Join(r.root, "app", of, "cold.txt"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		for _, pattern := range strings.Fields(string(cold)) {
			args = append(args, "-gcflags="+pattern+"=-l "+noTables)
		}
		// Distributions want position-independent executables; on other systems Go builds
		// them by default. Such a program takes a millisecond longer to start.
		if system == "linux" && slices.Contains(env, "CGO_ENABLED=1") {
			args = append(args, "-buildmode=pie")
		}
	}
	cmd := exec.Command(goTool(), append(args, "-o", out, "./app/"+of)...)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), append(env, "GOOS="+system, "GOARCH="+arch, "GOFLAGS=", "GOAMD64=v1")...)
	if msg, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building for %s: %w\n%s", system, err, msg)
	}
	p := &program{os: system, arch: arch}
	var err error
	if p.binary, err = os.ReadFile(out); err != nil {
		return nil, err
	}
	if p.info, err = buildinfo.Read(bytes.NewReader(p.binary)); err != nil {
		return nil, err
	}
	used, err := r.folders("./app/"+of, cmd.Env)
	if err != nil {
		return nil, err
	}
	if p.notices, p.licences, err = r.licences(p.info, used); err != nil {
		return nil, err
	}
	if p.sbom, err = sbom(p, r.version); err != nil {
		return nil, err
	}
	if r.made == nil {
		r.made = map[string]*program{}
	}
	r.made[out] = p
	return p, nil
}

// modules returns the modules of the program, with replacements applied.
func modules(info *debug.BuildInfo) []*debug.Module {
	var all []*debug.Module
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *debug.Module) int { return strings.Compare(a.Path, b.Path) })
	return all
}

var spdx = regexp.MustCompile(`SPDX-License-Identifier: ([^\r\n]+)`)

var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|unlicense|patents|ofl)([-.].*)?$`)

// licences returns the licences of all modules in the program, as the licences require, and
// their names by module. A module without a known licence is an error, because the program
// could not be distributed. used are the folders of the packages in the program.
func (r *release) licences(info *debug.BuildInfo, used []string) ([]byte, map[string]string, error) {
	var b bytes.Buffer
	names := map[string]string{}
	b.WriteString("Ashlar contains the following, under their own licences.\n")
	add := func(module, title, dir string) error {
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n", strings.Repeat("=", 78), title, strings.Repeat("=", 78))
		paths, err := licenceFiles(dir, used)
		if err != nil {
			return err
		}
		var expressions []string
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			below, err := filepath.Rel(dir, filepath.Dir(path))
			if err != nil {
				return err
			}
			if below != "." {
				fmt.Fprintf(&b, "\nIn its folder %s:\n", filepath.ToSlash(below))
			}
			fmt.Fprintf(&b, "\n%s\n", bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))))
			if e := licence(string(text)); e != "" {
				expressions = append(expressions, e)
			} else if !strings.HasPrefix(strings.ToUpper(filepath.Base(path)), "PATENTS") {
				return fmt.Errorf("%s is under a licence that is not known here: see %s", title, path)
			}
		}
		if len(expressions) == 0 {
			return fmt.Errorf("%s has no licence in %s", title, dir)
		}
		names[module] = allOf(expressions)
		return nil
	}
	goroot, err := r.goSays("env", "GOROOT")
	if err != nil {
		return nil, nil, err
	}
	if err := add("std", "Go's standard library "+info.GoVersion, goroot); err != nil {
		return nil, nil, err
	}
	for _, m := range modules(info) {
		dir, err := r.goSays("list", "-m", "-f", "{{.Dir}}", m.Path)
		if err != nil {
			return nil, nil, err
		}
		if err := add(m.Path, m.Path+" "+m.Version, dir); err != nil {
			return nil, nil, err
		}
	}
	return b.Bytes(), names, nil
}

// folders returns the folders of the packages that a program consists of.
func (r *release) folders(program string, env []string) ([]string, error) {
	cmd := exec.Command(goTool(), "list", "-deps", "-tags=novulkan,nethttpomithttp2", "-f", "{{if .Module}}{{.Dir}}{{end}}", program)
	cmd.Dir, cmd.Env = r.root, env
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages of %s: %w", program, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n"), nil
}

// licenceFiles returns the files of licences in a module's folder, and those in folders
// below it that apply to the packages used: the package's own, one around it, or a folder of
// data beside it.
func licenceFiles(module string, used []string) (paths []string, err error) {
	holds := func(dir string) bool {
		return slices.ContainsFunc(used, func(u string) bool { return u == dir || strings.HasPrefix(u, dir+string(filepath.Separator)) })
	}
	applies := func(dir string) bool {
		if dir == module || holds(dir) {
			return true
		}
		code, _ := filepath.Glob(filepath.Join(dir, "*.go")) // the pattern is valid
		parent := filepath.Dir(dir)
		return len(code) == 0 && parent != module && filepath.Base(dir) != "testdata" && holds(parent)
	}
	err = filepath.WalkDir(module, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != module && !holds(module):
			return filepath.SkipDir // Go's own folder has much else
		case !e.IsDir() && licenceName.MatchString(e.Name()) && filepath.Ext(e.Name()) != ".go" && applies(filepath.Dir(path)):
			paths = append(paths, path)
		}
		return nil
	})
	return paths, err
}

// allOf joins SPDX expressions, all of which apply.
func allOf(expressions []string) string {
	var all []string
	for _, e := range expressions {
		for part := range strings.SplitSeq(e, " AND ") {
			if strings.Contains(part, " OR ") && len(expressions) > 1 {
				part = "(" + part + ")"
			}
			if !slices.Contains(all, part) {
				all = append(all, part)
			}
		}
	}
	slices.Sort(all)
	return strings.Join(all, " AND ")
}

// licence returns the SPDX expression of a text of licences: the one that it gives, else
// all licences in it. It returns "" for unknown ones.
func licence(text string) string {
	if m := spdx.FindStringSubmatch(text); m != nil {
		return strings.TrimSpace(m[1])
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '/' || r == '*' }), " ")
	has := func(phrase string) bool { return strings.Contains(text, phrase) }
	var all []string
	if has("Apache License Version 2.0, January 2004") {
		all = append(all, "Apache-2.0")
	}
	switch bsd := has("Redistribution and use in source and binary forms, with or without modification"); {
	case bsd && has("Neither the name"):
		all = append(all, "BSD-3-Clause")
	case bsd:
		all = append(all, "BSD-2-Clause")
	}
	switch mit := has("Permission is hereby granted, free of charge, to any person obtaining a copy"); {
	case mit && has("permission notice shall be included"):
		all = append(all, "MIT")
	case mit:
		all = append(all, "MIT-0")
	}
	return strings.Join(all, " AND ")
}

func (r *release) goSays(args ...string) (string, error) {
	cmd := exec.Command(goTool(), args...)
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}
