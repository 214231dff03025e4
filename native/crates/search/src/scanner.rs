//! Searches bytes, wherever they come from; one scanner for each thread or task.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::thread;

use memchr::{memchr, memchr_iter, memrchr};
use memmap2::Mmap;
use tokio::io::AsyncReadExt;
use worker::exit::Failure;

use crate::found::{Found, Place};
use crate::job::{Reading, Search};
use crate::lines::{LineBuffer, last_line_end, lines_beginning_in};
use crate::parser::{DEEPEST, Parser, SerdeJson, too_deep};
use crate::prefilter::Prefilter;
use crate::query::Matcher;
use crate::record::Message;
use crate::threads::Host;

/// The engine that a scanner belongs to, and the kind of thread that it should run on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stand {
    pub(crate) engine: &'static str,
    pub(crate) host: Host,
}

impl Stand {
    /// The engine as a thread of kind `host` saw it: its name, if that is where its work belongs.
    fn seen_on(self, host: Host) -> String {
        if host == self.host {
            self.engine.to_owned()
        } else {
            format!("{} on a thread of kind {host:?}", self.engine)
        }
    }
}

/// Searcher of lines with the parser `P`.
pub(crate) struct Scanner<P> {
    search: Arc<Search>,
    stand: Stand,
    parser: P,
    parsed: u64,
    /// Judges lines that `parser` refuses, so that all parsers take the same lines.
    judge: SerdeJson,
    matcher: Matcher,
    prefilter: Option<Prefilter>,
    buffer: Option<LineBuffer>,
    found: Found,
}

impl<P: Parser> Scanner<P> {
    pub(crate) fn new(search: &Arc<Search>, stand: Stand) -> Self {
        Self {
            search: Arc::clone(search),
            stand,
            parser: P::default(),
            parsed: 0,
            judge: SerdeJson,
            matcher: search.matcher.clone(),
            prefilter: search.prefilter.clone(),
            buffer: None,
            found: Found::new(search.job.limit),
        }
    }

    /// Returns the results and observations.
    pub(crate) fn finish(self) -> Found {
        let mut found = self.found;
        if self.parsed > 0 {
            found.seen.parsers.insert(P::NAME);
        }
        found.seen.pieces_folded = self.matcher.pieces_folded;
        found.seen.ascii_folded = self.matcher.ascii_folded;
        found.seen.pieces_plain = self.matcher.pieces_plain;
        found.seen.buffer_peak = self.buffer.map_or(0, |buffer| buffer.capacity());
        found
    }

    /// Says that the search of a file is complete.
    pub(crate) fn file_done(&mut self) {
        self.found.seen.files += 1;
        self.found.seen.pieces += 1;
    }

    /// Searches a file as the job says, on the calling thread.
    pub(crate) fn file(&mut self, file: usize) -> Result<(), Failure> {
        let search = Arc::clone(&self.search);
        let _entered = search.in_flight.enter();
        match search.job.reading {
            Reading::Read => self.read(file),
            Reading::Mmap => self.mapped(file),
        }?;
        self.file_done();
        Ok(())
    }

    fn read(&mut self, file: usize) -> Result<(), Failure> {
        let search = Arc::clone(&self.search);
        let path = &search.job.sessions[file].path;
        let unreadable = |error| unreadable(&search, file, &error);
        let mut input = File::open(path).map_err(unreadable)?;
        self.blocks(file, |room| {
            loop {
                match input.read(room) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    result => return result,
                }
            }
        })
        .map_err(unreadable)
    }

    /// Searches what `read` puts into the room that it is given, until that is nothing.
    fn blocks(
        &mut self,
        file: usize,
        mut read: impl FnMut(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<()> {
        let mut buffer = self.take_buffer();
        let mut offset = 0;
        loop {
            let count = read(buffer.room())?;
            offset = self.received(file, &mut buffer, offset, count);
            if count == 0 {
                break;
            }
        }
        self.buffer = Some(buffer);
        Ok(())
    }

    /// Searches a file block by block, without blocking a thread of the runtime.
    pub(crate) async fn stream(&mut self, file: usize) -> Result<(), Failure> {
        let search = Arc::clone(&self.search);
        let unreadable = |error| unreadable(&search, file, &error);
        let mut input = tokio::fs::File::open(&search.job.sessions[file].path)
            .await
            .map_err(unreadable)?;
        let mut buffer = self.take_buffer();
        input.set_max_buf_size(buffer.capacity());
        let mut offset = 0;
        loop {
            let count = input.read(buffer.room()).await.map_err(unreadable)?;
            offset = self.received(file, &mut buffer, offset, count);
            if count == 0 {
                break;
            }
        }
        self.buffer = Some(buffer);
        Ok(())
    }

    fn take_buffer(&mut self) -> LineBuffer {
        let size = self.search.job.buffer_bytes;
        let mut buffer = self.buffer.take().unwrap_or_else(|| LineBuffer::new(size));
        buffer.clear();
        buffer
    }

    /// Searches the lines that `count` further bytes make whole; of none, the rest. Returns the
    /// offset after them.
    fn received(&mut self, file: usize, buffer: &mut LineBuffer, offset: u64, count: usize) -> u64 {
        self.found.seen.reads += 1;
        let block = if count > 0 {
            buffer.fill(count)
        } else {
            buffer.rest()
        };
        self.block(file, offset, block, "read");
        let length = block.len();
        buffer.consume(length);
        offset + length as u64
    }

    /// Searches a file that is mapped whole.
    pub(crate) fn mapped(&mut self, file: usize) -> Result<(), Failure> {
        let search = Arc::clone(&self.search);
        let unreadable = |error| unreadable(&search, file, &error);
        if let Some(mapped) = Mapped::of(&search, file).map_err(unreadable)? {
            self.block(file, 0, &mapped.map, "mmap");
            mapped.kept_its_size().map_err(unreadable)?;
        }
        Ok(())
    }

    /// Searches a file that was read whole.
    pub(crate) fn whole(&mut self, file: usize, contents: &[u8]) {
        self.found.seen.reads += 1;
        self.found.seen.files_whole += 1;
        self.block(file, 0, contents, "read");
    }

    /// Searches the lines that begin in `from..to` of a file; they may end after it.
    pub(crate) fn chunk(&mut self, file: usize, from: u64, to: u64) -> Result<(), Failure> {
        let search = Arc::clone(&self.search);
        let _entered = search.in_flight.enter();
        let unreadable = |error| unreadable(&search, file, &error);
        match search.job.reading {
            Reading::Read => self.read_chunk(file, from, to).map_err(unreadable)?,
            Reading::Mmap => {
                if let Some(mapped) = Mapped::of(&search, file).map_err(unreadable)? {
                    let lines = lines_beginning_in(&mapped.map, from, to);
                    self.block(file, lines.start as u64, &mapped.map[lines], "mmap");
                    mapped.kept_its_size().map_err(unreadable)?;
                }
            }
        }
        if from == 0 {
            self.file_done();
        } else {
            self.found.seen.pieces += 1;
        }
        Ok(())
    }

    fn read_chunk(&mut self, file: usize, from: u64, to: u64) -> io::Result<()> {
        use std::os::unix::fs::FileExt;

        let search = Arc::clone(&self.search);
        let input = File::open(&search.job.sessions[file].path)?;
        // The previous byte shows whether a line begins here.
        let start = from.saturating_sub(1);
        let mut buffer = self.take_buffer();
        let mut at = start;
        let mut offset = start;
        let mut begun = from == 0;
        loop {
            let count = input.read_at(buffer.room(), at)?;
            self.found.seen.reads += 1;
            at += count as u64;
            let mut lines = if count > 0 {
                buffer.fill(count)
            } else {
                buffer.rest()
            };
            let length = lines.len();
            let mut first = offset;
            if !begun && let Some(end) = memchr(b'\n', lines) {
                begun = true;
                first += end as u64 + 1;
                lines = &lines[end + 1..];
            }
            let mut over = count == 0 || !begun && at >= to;
            if begun {
                if first + lines.len() as u64 >= to {
                    over = true;
                    // The last line is the one that has begun before `to`.
                    let before = usize::try_from(to.saturating_sub(first)).unwrap_or(usize::MAX);
                    lines = &lines[..last_line_end(lines, before)];
                }
                self.block(file, first, lines, "read");
            }
            buffer.consume(length);
            offset += length as u64;
            if over {
                break;
            }
        }
        self.buffer = Some(buffer);
        Ok(())
    }

    /// Searches whole lines that begin at `offset` of a file; the last may lack its end.
    fn block(&mut self, file: usize, offset: u64, block: &[u8], reading: &'static str) {
        if block.is_empty() {
            return;
        }
        let seen = &mut self.found.seen;
        seen.engines.insert(self.stand.seen_on(Host::observe()));
        seen.threads.insert(thread::current().id());
        seen.readings.insert(reading);
        seen.bytes += block.len() as u64;
        if self.prefilter.is_some() {
            self.likely_lines(file, offset, block);
        } else {
            self.every_line(file, offset, block);
        }
    }

    fn every_line(&mut self, file: usize, offset: u64, block: &[u8]) {
        let mut from = 0;
        while from < block.len() {
            let length = memchr(b'\n', &block[from..]).unwrap_or(block.len() - from);
            self.found.seen.lines += 1;
            self.line(file, offset + from as u64, &block[from..from + length]);
            from += length + 1;
        }
    }

    fn likely_lines(&mut self, file: usize, offset: u64, block: &[u8]) {
        self.found.seen.prefiltered = true;
        let ends = memchr_iter(b'\n', block).count() as u64;
        self.found.seen.lines += ends + u64::from(!block.ends_with(b"\n"));
        let mut from = 0;
        while let Some(at) = self
            .prefilter
            .as_ref()
            .and_then(|prefilter| prefilter.find(block, from))
        {
            let start = memrchr(b'\n', &block[..at]).map_or(0, |end| end + 1);
            let end = memchr(b'\n', &block[at..]).map_or(block.len(), |length| at + length);
            self.line(file, offset + start as u64, &block[start..end]);
            from = end + 1;
            if from >= block.len() {
                break;
            }
        }
    }

    fn line(&mut self, file: usize, offset: u64, line: &[u8]) {
        if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            return;
        }
        let copy;
        let line = if self.search.job.fresh_lines {
            self.found.seen.lines_copied += 1;
            copy = line.to_vec();
            &copy
        } else {
            line
        };
        self.found.seen.lines_parsed += 1;
        let place = Place { file, offset };
        if too_deep(line) {
            return self
                .found
                .reject(place, || format!("nested deeper than {DEEPEST}"));
        }
        let first = match self.parser.parse(line) {
            Ok(parsed) => {
                self.parsed += 1;
                Some(Ok(parsed))
            }
            Err(error) if P::NAME == SerdeJson::NAME => Some(Err(error)),
            Err(_) => None,
        };
        let parsed = first.unwrap_or_else(|| {
            self.found.seen.lines_judged += 1;
            self.judge.parse(line)
        });
        let message = match parsed {
            Ok(parsed) => Message::from_line(parsed),
            Err(error) => return self.found.reject(place, || error),
        };
        match message {
            Ok(message) => {
                if self.search.job.filter.passes(&message) && self.matcher.matches(&message) {
                    let name = &self.search.job.sessions[file].name;
                    self.found.take(&message, place, name);
                }
            }
            Err(fault) => self.found.reject(place, || fault.into_owned()),
        }
    }
}

/// A file, mapped.
struct Mapped {
    file: File,
    map: Mmap,
}

impl Mapped {
    /// `None` for an empty file, which cannot be mapped.
    fn of(search: &Search, file: usize) -> io::Result<Option<Self>> {
        let file = File::open(&search.job.sessions[file].path)?;
        if file.metadata()?.len() == 0 {
            return Ok(None);
        }
        // SAFETY: the map is only read, as bytes that are checked where they are used. If another process truncates the
        // file meanwhile, the program's handler ends it with an error.
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Some(Self { file, map }))
    }

    /// Bytes that were truncated inside the last page, or truncated and rewritten, were read as
    /// zeros without a signal.
    fn kept_its_size(&self) -> io::Result<()> {
        if self.file.metadata()?.len() == self.map.len() as u64 {
            return Ok(());
        }
        Err(io::Error::other("it changed its size while it was mapped"))
    }
}

/// The words for a file that cannot be read.
pub(crate) fn unreadable(search: &Search, file: usize, error: &io::Error) -> Failure {
    let path = search.job.sessions[file].path.display();
    Failure::Work(format!("cannot read {path}: {error}"))
}
