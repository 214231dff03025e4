//! Searches bytes, wherever they come from; one scanner for each thread or task.
//!
//! Files are opened, read and mapped here, not by the crate `source`. That crate copies nothing into a buffer of whole
//! lines, and reads `/proc/self/maps` or `smaps` for each input to prove how it was read. Ratio of the CPU time with `source`
//! to that without, `search run --query zyzzyva --output none --engine sequential` on 64 MiB in 1364 files, 40 interleaved
//! pairs: 1.19 [1.15, 1.27] with `--reading read`, 1.87 [1.81, 1.89] with `--reading mmap`.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::thread;

use memchr::{memchr, memchr_iter, memrchr};
use memmap2::Mmap;
use tokio::io::AsyncReadExt;
use worker::exit::Failure;

use crate::job::{Reading, Search};
use crate::lines::{LineBuffer, last_line_end, lines_beginning_in};
use crate::parser::{MAX_DEPTH, Parser, SerdeJson, too_deep};
use crate::prefilter::Prefilter;
use crate::query::Matcher;
use crate::record::Message;
use crate::results::{Place, SearchResults};
use crate::threads::Host;

/// Searcher of lines with the parser `P`.
pub(crate) struct Scanner<P> {
    search: Arc<Search>,
    /// Name of the engine that runs it, and the kind of thread that its searching belongs to.
    engine: (&'static str, Host),
    parser: P,
    parsed: u64,
    /// Judges lines that `parser` refuses, so that all parsers take the same lines.
    judge: SerdeJson,
    matcher: Matcher,
    prefilter: Option<Prefilter>,
    buffer: Option<LineBuffer>,
    results: SearchResults,
}

impl<P: Parser> Scanner<P> {
    pub(crate) fn new(search: &Arc<Search>, engine: (&'static str, Host)) -> Self {
        Self {
            search: Arc::clone(search),
            engine,
            parser: P::default(),
            parsed: 0,
            judge: SerdeJson,
            matcher: search.matcher.clone(),
            prefilter: search.prefilter.clone(),
            buffer: None,
            results: SearchResults::new(search.job.limit),
        }
    }

    /// Returns the results and observations.
    pub(crate) fn finish(self) -> SearchResults {
        let mut results = self.results;
        if self.parsed > 0 {
            results.observations.parsers.insert(P::NAME);
        }
        results.observations.pieces_folded = self.matcher.pieces_folded;
        results.observations.ascii_folded = self.matcher.ascii_folded;
        results.observations.pieces_plain = self.matcher.pieces_plain;
        results.observations.buffer_peak = self.buffer.map_or(0, |buffer| buffer.capacity());
        results
    }

    /// Says that the search of a file is complete.
    pub(crate) fn count_file(&mut self) {
        self.results.observations.files += 1;
        self.results.observations.pieces += 1;
    }

    /// Searches a file as the job says, on the calling thread.
    pub(crate) fn search_file(&mut self, file: usize) -> Result<(), Failure> {
        let search = Arc::clone(&self.search);
        let _in_flight = search.in_flight.enter();
        match search.job.reading {
            Reading::Read => self.search_by_reading(file),
            Reading::Mmap => self.search_mapping(file),
        }?;
        self.count_file();
        Ok(())
    }

    fn search_by_reading(&mut self, file: usize) -> Result<(), Failure> {
        let search = Arc::clone(&self.search);
        let path = &search.job.sessions[file].path;
        let unreadable = |error| unreadable(&search, file, &error);
        let mut input = File::open(path).map_err(unreadable)?;
        self.search_blocks(file, |room| {
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
    fn search_blocks(
        &mut self,
        file: usize,
        mut read: impl FnMut(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<()> {
        let mut buffer = self.take_buffer();
        let mut offset = 0;
        loop {
            let count = read(buffer.room()?)?;
            offset = self.search_whole_lines(file, &mut buffer, offset, count);
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
            let room = buffer.room().map_err(unreadable)?;
            let count = input.read(room).await.map_err(unreadable)?;
            offset = self.search_whole_lines(file, &mut buffer, offset, count);
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
    fn search_whole_lines(
        &mut self,
        file: usize,
        buffer: &mut LineBuffer,
        offset: u64,
        count: usize,
    ) -> u64 {
        self.results.observations.reads += 1;
        let block = if count > 0 {
            buffer.fill(count)
        } else {
            buffer.rest()
        };
        self.search_block(file, offset, block, "read");
        let length = block.len();
        buffer.consume(length);
        offset + length as u64
    }

    /// Searches a file that is mapped whole.
    pub(crate) fn search_mapping(&mut self, file: usize) -> Result<(), Failure> {
        let search = Arc::clone(&self.search);
        let unreadable = |error| unreadable(&search, file, &error);
        if let Some(mapped) = MappedFile::open(&search, file).map_err(unreadable)? {
            self.search_block(file, 0, &mapped.map, "mmap");
            mapped.check_size().map_err(unreadable)?;
        }
        Ok(())
    }

    /// Searches a file that was read whole.
    pub(crate) fn search_contents(&mut self, file: usize, contents: &[u8]) {
        self.results.observations.reads += 1;
        self.results.observations.files_whole += 1;
        self.search_block(file, 0, contents, "read");
    }

    /// Searches the lines that begin in `from..to` of a file; they may end after it.
    pub(crate) fn search_chunk(&mut self, file: usize, from: u64, to: u64) -> Result<(), Failure> {
        let search = Arc::clone(&self.search);
        let _in_flight = search.in_flight.enter();
        let unreadable = |error| unreadable(&search, file, &error);
        match search.job.reading {
            Reading::Read => self.read_chunk(file, from, to).map_err(unreadable)?,
            Reading::Mmap => {
                if let Some(mapped) = MappedFile::open(&search, file).map_err(unreadable)? {
                    let lines = lines_beginning_in(&mapped.map, from, to);
                    self.search_block(file, lines.start as u64, &mapped.map[lines], "mmap");
                    mapped.check_size().map_err(unreadable)?;
                }
            }
        }
        if from == 0 {
            self.count_file();
        } else {
            self.results.observations.pieces += 1;
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
            let count = input.read_at(buffer.room()?, at)?;
            self.results.observations.reads += 1;
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
                self.search_block(file, first, lines, "read");
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
    fn search_block(&mut self, file: usize, offset: u64, block: &[u8], reading: &'static str) {
        if block.is_empty() {
            return;
        }
        let observations = &mut self.results.observations;
        let (engine, host) = self.engine;
        observations.engines.insert(host.label(engine));
        observations.threads.insert(thread::current().id());
        observations.readings.insert(reading);
        observations.bytes += block.len() as u64;
        if self.prefilter.is_some() {
            self.search_likely_lines(file, offset, block);
        } else {
            self.search_every_line(file, offset, block);
        }
    }

    fn search_every_line(&mut self, file: usize, offset: u64, block: &[u8]) {
        let mut from = 0;
        while from < block.len() {
            let length = memchr(b'\n', &block[from..]).unwrap_or(block.len() - from);
            self.results.observations.lines += 1;
            self.search_line(file, offset + from as u64, &block[from..from + length]);
            from += length + 1;
        }
    }

    fn search_likely_lines(&mut self, file: usize, offset: u64, block: &[u8]) {
        self.results.observations.prefiltered = true;
        let ends = memchr_iter(b'\n', block).count() as u64;
        self.results.observations.lines += ends + u64::from(!block.ends_with(b"\n"));
        let mut from = 0;
        while let Some(at) = self
            .prefilter
            .as_ref()
            .and_then(|prefilter| prefilter.find(block, from))
        {
            let start = memrchr(b'\n', &block[..at]).map_or(0, |end| end + 1);
            let end = memchr(b'\n', &block[at..]).map_or(block.len(), |length| at + length);
            self.search_line(file, offset + start as u64, &block[start..end]);
            from = end + 1;
            if from >= block.len() {
                break;
            }
        }
    }

    fn search_line(&mut self, file: usize, offset: u64, line: &[u8]) {
        if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            return;
        }
        let copy;
        let line = if self.search.job.fresh_lines {
            self.results.observations.lines_copied += 1;
            copy = line.to_vec();
            &copy
        } else {
            line
        };
        self.results.observations.lines_parsed += 1;
        let place = Place { file, offset };
        if too_deep(line) {
            return self
                .results
                .reject(place, || format!("nested deeper than {MAX_DEPTH}"));
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
            self.results.observations.lines_judged += 1;
            self.judge.parse(line)
        });
        let message = match parsed {
            Ok(parsed) => Message::from_line(parsed),
            Err(error) => return self.results.reject(place, || error),
        };
        match message {
            Ok(message) => {
                if self.search.job.filter.passes(&message) && self.matcher.matches(&message) {
                    let name = &self.search.job.sessions[file].name;
                    self.results.take(&message, place, name);
                }
            }
            Err(fault) => self.results.reject(place, || fault.into_owned()),
        }
    }
}

/// A file, mapped.
struct MappedFile {
    file: File,
    map: Mmap,
}

impl MappedFile {
    /// `None` for an empty file, which cannot be mapped.
    fn open(search: &Search, file: usize) -> io::Result<Option<Self>> {
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
    fn check_size(&self) -> io::Result<()> {
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
