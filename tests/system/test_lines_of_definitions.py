"""A name leads to the line that defines it, in the languages and forms in which people type and write it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.daemon_over import daemon_over
from helpers.support import Daemon

RUST = """use std::fmt;

/// A lamp, as [`Lamp::shine`] says.
pub struct Lamp<'a>(&'a str);

impl<'a> Lamp<'a> {
    /// Shines, as `Lamp::shine` of a [`Glow::Warm`] does.
    pub fn shine(&self, glow: Glow) -> u32 {
        match glow {
            Glow::Warm => 1,
            Glow::Cold => 2,
        }
    }
}

pub enum Glow {
    Warm,
    Cold,
}
"""
CSHARP = """namespace Light
{
    public class Lantern
    {
        private bool _burning;

        public int Wicks { get; set; }

        public Lantern(bool burning)
        {
            _burning = burning;
            Wicks = 4;
        }
    }
}
"""
USES_OF_CSHARP = """namespace Light.Tests
{
    public class LanternTests
    {
        public void Burns()
        {
            var one = new Lantern(true)
            {
                Wicks = 4
            };
            Wicks = 4;
            _burning = false;
        }
    }
}
"""
HEADER = """#ifndef LIGHT_BEACON_H
#define LIGHT_BEACON_H

namespace light {

namespace limits {
static const int kMostBeams = 4;
}

class Mirror;

class LIGHT_EXPORT Beacon : public Source {
 public:
  explicit Beacon(int beams);
  void Turn(int degrees) EXCLUDES(mutex_);

 private:
  int turned_;  // degrees, if it turns
};

typedef unsigned int Degrees;

}  // namespace light

#endif
"""
SOURCE = """#include "beacon.h"

namespace light {

struct beacon_t : public Beacon {
  const Beacon* first;
};

Beacon::Beacon(int beams) : turned_(0) {
  if (beams > limits::kMostBeams) beams = limits::kMostBeams;
}

void Beacon::Turn(int degrees) {
  Degrees more = degrees;
  turned_ = turned_ + more;
}

}  // namespace light
"""
KOTLIN = """package light.candles

import wax.Melter
import wax.WickCutter

class TallCandle internal constructor(
  val wax: Melter,
) {
  interface Holder {
    fun hold(candle: TallCandle)
  }
}
"""
PHP = """<?php

class Torch
{
    protected $brightness = 3;

    public function burn($fuel)
    {
        $brightness = $fuel;
        return $this->brightness = $brightness;
    }
}
"""
HASKELL = """module Light where

data Colour
  = Amber
  | Crimson Int  -- ^ as a sunset is
  deriving (Eq)

mix :: Colour -> Int
mix colour = case colour of
  Amber -> 1
  Crimson n -> n
"""
FILLER = "".join(f"    int lens{n}(int size) {{ return size * {n} + 12345678 / size - {n}; }}\n" for n in range(40))
NESTED = f"""class Reflector {{
{FILLER}
  static class Shutter {{
    int lens = 0;
    void tilt(int lens) {{ this.lens = lens; }}
{FILLER}
  }}
{FILLER}
    void tilt(int degrees) {{
      this.degrees = degrees;
    }}
}}
"""
FILES = {
    "Reflector.java": NESTED,
    "lamp.rs": RUST,
    "src/Lantern.cs": CSHARP,
    "tests/LanternTests.cs": USES_OF_CSHARP,
    "include/beacon.h": HEADER,
    "beacon.cc": SOURCE,
    "candles/TallCandle.kt": KOTLIN,
    "torch.php": PHP,
    "lights/FlatLight.kt": "package lights\n\nimport wax.Melter\n\nclass FlatLight internal constructor(a: Int)\n",
    "Light.hs": HASKELL,
    "torches.md": "# Brightness\n\nBrightness is brightness: a torch of more brightness has the brightness.\n",
    "shells.py": "class Nushell:\n    name = 'nu'\n",
    "nushell.py": "from shells import Nushell\n\nnushell = Nushell()\nnushell.run(Nushell)\n",
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with daemon_over(tmp_path_factory.mktemp("lights") / "root", FILES) as made:
        yield made


@pytest.mark.parametrize(
    ("query", "path", "line"),
    [
        ("Lamp", "lamp.rs", "pub struct Lamp<'a>(&'a str);"),
        ("Lamp::shine", "lamp.rs", "    pub fn shine(&self, glow: Glow) -> u32 {"),
        ("Glow::Warm", "lamp.rs", "    Warm,"),
        ("Wicks", "src/Lantern.cs", "        public int Wicks { get; set; }"),
        ("Lantern.Wicks", "src/Lantern.cs", "        public int Wicks { get; set; }"),
        ("_burning", "src/Lantern.cs", "        private bool _burning;"),
        ("Beacon", "include/beacon.h", "class LIGHT_EXPORT Beacon : public Source {"),
        ("light::Beacon", "include/beacon.h", "class LIGHT_EXPORT Beacon : public Source {"),
        ("Beacon::Turn", "beacon.cc", "void Beacon::Turn(int degrees) {"),
        ("turned_", "include/beacon.h", "  int turned_;  // degrees, if it turns"),
        ("limits::kMostBeams", "include/beacon.h", "static const int kMostBeams = 4;"),
        ("Degrees", "include/beacon.h", "typedef unsigned int Degrees;"),
        ("light.candles.TallCandle", "candles/TallCandle.kt", "class TallCandle internal constructor("),
        ("candles.TallCandle", "candles/TallCandle.kt", "class TallCandle internal constructor("),
        ("Reflector.tilt", "Reflector.java", "    void tilt(int degrees) {"),
        ("Shutter.tilt", "Reflector.java", "    void tilt(int lens) { this.lens = lens; }"),
        ("lights.FlatLight", "lights/FlatLight.kt", "class FlatLight internal constructor(a: Int)"),
        ("TallCandle.Holder", "candles/TallCandle.kt", "  interface Holder {"),
        ("brightness", "torch.php", "    protected $brightness = 3;"),
        ("Crimson", "Light.hs", "  | Crimson Int  -- ^ as a sunset is"),
    ],
)
def test_the_first_hit_is_the_line_that_defines_it(daemon: Daemon, query: str, path: str, line: str) -> None:
    with daemon.client() as client:
        first = client.call("search", {"query": query})["hits"][0]
    assert (first["relative_path"], first["text"]) == (path, line)
    name = query.rpartition(":")[2].rpartition(".")[2].strip("_")
    shown = {first["snippet"][begin:end] for begin, end in first["highlights"]}
    assert any(name in part for part in shown)


def test_a_defined_name_comes_before_a_file_that_is_called_so_in_another_case(daemon: Daemon) -> None:
    with daemon.client() as client:
        for query, path in (("Nushell", "shells.py"), ("nushell", "nushell.py")):
            assert client.call("search", {"query": query})["hits"][0]["relative_path"] == path, query
